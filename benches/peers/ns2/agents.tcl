# One kind of ns-2's agents on one path: ns agents.tcl KEY VALUE ...
#
# Keys: agent (reno, newreno, sack1, hstcp, vegas), rate (bit/s), rtt (s), waiting (packets in the queue besides the one
# in transmission), queue (droptail or red), least and greatest (RED's thresholds, packets), flows, stagger (s between
# their starts), ssthresh (segments), duration and warmup (s), seed. Prints one line of JSON.

array set asked $argv
foreach key {agent rate rtt waiting queue least greatest flows stagger ssthresh duration warmup seed} {
    if {![info exists asked($key)]} { puts stderr "ns agents.tcl: $key is missing"; exit 2 }
}

# Only the headers that these runs read: the others would cost memory and copying for every packet.
remove-all-packet-headers
add-packet-header IP TCP Flags

# A full packet is 1000 bytes of payload and 40 of headers.
Agent/TCP set packetSize_ 1000
Agent/TCP set window_ 100000

ns-random $asked(seed)
set ns [new Simulator]
set left [$ns node]
set right [$ns node]
# DropTail counts the packet that arrives: with a limit of N at most N - 1 wait
set limit [expr {$asked(waiting) + 1}]
if {$asked(queue) eq "red"} {
    Queue/RED set thresh_ $asked(least)
    Queue/RED set maxthresh_ $asked(greatest)
    Queue/RED set q_weight_ 0.002
    Queue/RED set linterm_ 10
    Queue/RED set bytes_ false
    Queue/RED set queue_in_bytes_ false
    Queue/RED set mean_pktsize_ 1040
    $ns simplex-link $left $right $asked(rate) 0ms RED
} else {
    $ns simplex-link $left $right $asked(rate) 0ms DropTail
}
$ns simplex-link $right $left 10Gb 0ms DropTail
$ns queue-limit $left $right $limit
$ns queue-limit $right $left 1000000

set senders {}
for {set i 0} {$i < $asked(flows)} {incr i} {
    # as in Longfat's dumbbell, all propagation delay is behind the bottleneck: what the queue drops after the sender
    # has found a loss was sent during recovery
    set delay [expr {$asked(rtt) / 2.0}]
    set host [$ns node]
    set peer [$ns node]
    $ns duplex-link $host $left 10Gb 0ms DropTail
    $ns duplex-link $right $peer 10Gb $delay DropTail
    foreach {a b} [list $host $left $left $host $right $peer $peer $right] { $ns queue-limit $a $b 1000000 }
    switch $asked(agent) {
        reno { set tcp [new Agent/TCP/Reno]; set sink [new Agent/TCPSink] }
        newreno { set tcp [new Agent/TCP/Newreno]; set sink [new Agent/TCPSink] }
        sack1 { set tcp [new Agent/TCP/Sack1]; set sink [new Agent/TCPSink/Sack1] }
        hstcp {
            set tcp [new Agent/TCP/Sack1]
            $tcp set windowOption_ 8
            set sink [new Agent/TCPSink/Sack1]
        }
        vegas {
            set tcp [new Agent/TCP/Vegas]
            # its output adds no headers to a packet
            $tcp set packetSize_ 1040
            set sink [new Agent/TCPSink]
        }
        default { puts stderr "ns agents.tcl: no agent $asked(agent)"; exit 2 }
    }
    $ns attach-agent $host $tcp
    $ns attach-agent $peer $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    # a start resets the agent, so what it begins with is set afterwards
    $ns at [expr {$i * $asked(stagger)}] "$ftp start; $tcp set ssthresh_ $asked(ssthresh)"
    lappend senders $tcp
}
set monitor [$ns monitor-queue $left $right ""]
set waiting [$monitor get-pkts-integrator]

# What the bottleneck has let go, dropped, and summed up of its queue (packet seconds) so far.
proc counted {} {
    global ns monitor waiting
    $waiting newpoint [$ns now] [$waiting set lasty_]
    return [list [$monitor set pdepartures_] [$monitor set pdrops_] [$waiting set sum_]]
}

set cwnd_sum 0.0
set cwnd_count 0
set sampled_s 0.01
proc sample {} {
    global ns senders cwnd_sum cwnd_count sampled_s
    foreach tcp $senders {
        set cwnd_sum [expr {$cwnd_sum + [$tcp set cwnd_]}]
        incr cwnd_count
    }
    $ns at [expr {[$ns now] + $sampled_s}] sample
}

proc begin {} {
    global before senders again timeouts
    set before [counted]
    set timeouts 0
    foreach tcp $senders { incr timeouts [$tcp set nrexmit_] }
    sample
}

proc finish {} {
    global asked before senders timeouts cwnd_sum cwnd_count
    foreach now [counted] then $before { lappend in_window [expr {$now - $then}] }
    lassign $in_window departed dropped area
    set late 0
    foreach tcp $senders { incr late [$tcp set nrexmit_] }
    set out "\"cwnd\":[expr {$cwnd_sum / $cwnd_count}],\"packets\":[format %.0f $departed]"
    append out ",\"drops\":[format %.0f $dropped]"
    append out ",\"queue\":[expr {$area / ($asked(duration) - $asked(warmup))}]"
    append out ",\"timeouts\":[expr {$late - $timeouts}]"
    puts "{$out}"
    exit 0
}
$ns at $asked(warmup) begin
$ns at $asked(duration) finish
$ns run
