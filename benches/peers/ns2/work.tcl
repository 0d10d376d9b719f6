# The reference work in ns-2: ns work.tcl CASE SECONDS SCHEDULER [count]
#
# CASE is w1, w2 or w3; SECONDS is the simulated time, near 0 for the cost of set-up alone; SCHEDULER is Calendar (the
# default of ns-2) or another that it has. With `count`, a queue monitor counts what leaves the bottleneck and what it
# drops; measured runs go without, since a monitor costs time. Prints one line of JSON.

if {$argc < 3} { puts stderr "ns work.tcl w1|w2|w3 SECONDS SCHEDULER \[count\]"; exit 2 }
set case [lindex $argv 0]
set seconds [lindex $argv 1]
set scheduler [lindex $argv 2]
set counts [expr {[lindex $argv 3] eq "count"}]

# Only the headers that these runs read: the others would cost memory and copying for every packet.
remove-all-packet-headers
add-packet-header IP TCP Flags

# Each flow: algorithm, round-trip time (s), start (s).
switch $case {
    w1 {
        set rate 250Mb; set access 1000Mb; set limit 175
        set flows {{highspeed 0.042 0.0} {highspeed 0.042 5.0}}
    }
    w2 {
        set rate 1000Mb; set access 10000Mb; set limit 12500
        set flows {{highspeed 0.2 0.0}}
    }
    w3 {
        set rate 1000Mb; set access 10000Mb; set limit 8333
        set flows {}
        for {set i 0} {$i < 200} {incr i} { lappend flows [list reno [expr {0.02 + 0.18 * $i / 199.0}] 0.0] }
    }
    default { puts stderr "no case $case; w1, w2 or w3"; exit 2 }
}

Agent/TCP set timestamps_ true
Agent/TCP set window_ 1000000
Agent/TCP set windowInit_ 3
Agent/TCP set maxburst_ 0
# 1448 bytes of payload, 40 of headers and 12 of timestamps: 1500 bytes of IP
Agent/TCP set packetSize_ 1448
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCP set ts_option_size_ 12
Agent/TCP set tcpTick_ 0.001
Agent/TCP set minrto_ 0.2
Agent/TCPSink set ts_echo_rfc1323_ true
Agent/TCPSink/Sack1/DelAck set interval_ 40ms

set ns [new Simulator]
$ns use-scheduler $scheduler
set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right $rate 0ms DropTail
$ns queue-limit $left $right $limit
$ns queue-limit $right $left $limit

set senders {}
foreach flow $flows {
    lassign $flow algorithm rtt start
    # the round-trip time is spread over the access links: a quarter each way on each side
    set delay [expr {$rtt / 4.0}]
    set host [$ns node]
    set peer [$ns node]
    $ns duplex-link $host $left $access $delay DropTail
    $ns duplex-link $right $peer $access $delay DropTail
    foreach {a b} [list $host $left $left $host $right $peer $peer $right] { $ns queue-limit $a $b 1000000 }
    set tcp [new Agent/TCP/Linux]
    set sink [new Agent/TCPSink/Sack1/DelAck]
    $ns attach-agent $host $tcp
    $ns attach-agent $peer $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at 0.0 "$tcp select_ca $algorithm"
    $ns at $start "$ftp start"
    lappend senders $tcp
}
if {$counts} { set monitor [$ns monitor-queue $left $right ""] }

proc memory_kib {} {
    set file [open /proc/self/status]
    set text [read $file]
    close $file
    regexp {VmHWM:\s+(\d+)} $text whole kib
    return $kib
}

proc finish {} {
    global case seconds counts senders monitor
    set sent 0; set again 0; set timeouts 0
    foreach tcp $senders {
        incr sent [$tcp set ndatapack_]
        incr again [$tcp set nrexmitpack_]
        incr timeouts [$tcp set nrexmit_]
    }
    set out "\"case\":\"$case\",\"duration_s\":$seconds,\"packets_sent\":$sent,\"retransmits\":$again"
    append out ",\"timeouts\":$timeouts,\"peak_memory_kib\":[memory_kib]"
    if {$counts} {
        # not the bytes: ns-2 counts them in 32 bits
        append out ",\"packets\":[format %.0f [$monitor set pdepartures_]]"
        append out ",\"packets_dropped\":[format %.0f [$monitor set pdrops_]]"
    }
    puts "{$out}"
    exit 0
}
$ns at $seconds finish
$ns run
