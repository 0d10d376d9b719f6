"""What every suite is made of: experiments, claims, checks, the runner and the ledger."""
