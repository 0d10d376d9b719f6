// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The kernel's side of the TCP option, as a program: prints the word for "data CWND RTT_US FEEDBACK_CODE" and for
 * "echo CWND PARTS", and for "read WORD" the window, the feedback of data, and the number of an acknowledgement.
 */
#define LF_HOST
#include "../../../bpf/lf.h"
#include "../../../bpf/option.h"

int main(void)
{
	char line[128], what[8];

	while (fgets(line, sizeof(line), stdin)) {
		uint64_t v[3] = {0};
		int64_t parts = 0;
		sscanf(line, "%7s %" SCNu64 " %" SCNu64 " %" SCNu64, what, v, v + 1, v + 2);
		if (!strcmp(what, "data")) {
			printf("%" PRIu64 "\n", xcp_word(v[0], v[1], v[2]));
		} else if (!strcmp(what, "echo")) {
			sscanf(line, "%*s %*u %" SCNd64, &parts);
			printf("%" PRIu64 "\n", xcp_echo(compress(v[0]), echoed(parts)));
		} else {
			printf("%" PRIu64 " %" PRId64 " %" PRId64 "\n", expand(cwnd_code_of(v[0])), feedback_of(v[0]),
			       echo_of(v[0]));
		}
	}
	return 0;
}
