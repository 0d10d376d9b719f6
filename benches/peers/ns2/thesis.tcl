# A path of Lopez Pacheco's thesis (2008) in ns-2, with its own agents: ns thesis.tcl merge|steps KEY VALUE ...
#
# merge (Fig. 4.9, TCP on drop-tail): agent, window (segments).
# steps (chapter 5: XCP, and datagrams that leave LEFT of the link): mbps, rtt (s), flows, left ({s Mbit/s ...}), loss (of
# ACKs), duration (s). Prints, every 0.1 s: time, packets waiting, packets dropped, and each flow's segments
# acknowledged and timeouts. merge prints the bytes that each bottleneck has sent after 20 s.

set path [lindex $argv 0]
array set asked [lrange $argv 1 end]
set ns [new Simulator]
Agent/TCP set packetSize_ 1024
Agent/TCP set window_ 100000
set ample 1000000

# A link whose queues hold `limit` packets in both directions.
proc join {a b rate delay limit {queue DropTail}} {
    global ns
    $ns duplex-link $a $b $rate $delay $queue
    $ns queue-limit $a $b $limit
    $ns queue-limit $b $a $limit
    if {$queue eq "XCP"} {
        foreach {x y} [list $a $b $b $a] { [[$ns link $x $y] queue] set-link-capacity $rate }
    }
}

proc transfer {from to agent sink start} {
    global ns
    set tcp [new Agent/TCP/$agent]
    set end [new Agent/$sink]
    $ns attach-agent $from $tcp
    $ns attach-agent $to $end
    $ns connect $tcp $end
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at $start "$ftp start"
    return $tcp
}

proc merge {} {
    global ns asked
    Agent/TCP set window_ $asked(window)
    foreach node {Si Sj R0 A R1 R3 B R2 Ri Rj} { set $node [$ns node] }
    # queues of one bandwidth-delay product; those behind the two bottlenecks as the suite has them
    foreach {a b rate limit} [list $Si $R0 1e9 11617  $R0 $A 1e9 11617  $A $R1 300e6 3500 \
            $Sj $R3 1e9 11617  $R3 $B 1e9 11617  $B $R1 100e6 1200 \
            $R1 $R2 400e6 4647  $R2 $Ri 1e9 11617  $R2 $Rj 1e9 11617] {
        join $a $b $rate 10ms $limit
    }
    transfer $Si $Ri $asked(agent) TCPSink 0.05
    transfer $Sj $Rj $asked(agent) TCPSink 0.05
    set ways [list [$ns monitor-queue $A $R1 ""] [$ns monitor-queue $B $R1 ""]]
    $ns at 20 "foreach way {$ways} { puts \[\$way set bdepartures_\] }; exit 0"
}

proc steps {} {
    global ns asked ample
    set rate [expr {$asked(mbps) * 1e6}]
    set left [$ns node]
    set right [$ns node]
    join $left $right $rate [expr {$asked(rtt) / 2.0}] 12500 XCP
    set senders {}
    for {set i 0} {$i < $asked(flows)} {incr i} {
        set host [$ns node]
        set peer [$ns node]
        join $host $left 10e9 1us $ample XCP
        join $right $peer 10e9 1us $ample
        lappend senders [transfer $host $peer Reno/XCP TCPSink/XCPSink [expr {0.01 * $i}]]
        if {$asked(loss) > 0} {
            set losses [new ErrorModel]
            $losses unit pkt
            $losses ranvar [new RandomVariable/Uniform]
            $losses set rate_ $asked(loss)
            $losses drop-target [new Agent/Null]
            $ns link-lossmodel $losses $peer $right
        }
    }
    set host [$ns node]
    set peer [$ns node]
    join $host $left 10e9 1us $ample
    join $right $peer 10e9 1us $ample
    set sources 0
    set running 0
    foreach {time mbps} $asked(left) {
        set wanted [expr {int(($asked(mbps) - $mbps) / 50)}]
        for {} {$sources < $wanted} {incr sources} {
            set cbr($sources) [datagrams $host $peer]
        }
        for {} {$running < $wanted} {incr running} { $ns at [expr {$time + 0.0001 * $running}] "$cbr($running) start" }
        for {} {$running > $wanted} {} { incr running -1; $ns at $time "$cbr($running) stop" }
    }
    record [$ns monitor-queue $left $right ""] $senders
    $ns at $asked(duration) "exit 0"
}

proc datagrams {from to} {
    global ns
    set udp [new Agent/UDP]
    $udp set packetSize_ 1064
    set end [new Agent/Null]
    $ns attach-agent $from $udp
    $ns attach-agent $to $end
    $ns connect $udp $end
    set cbr [new Application/Traffic/CBR]
    $cbr set packetSize_ 1064
    $cbr set rate_ 50Mb
    $cbr attach-agent $udp
    return $cbr
}

proc record {monitor senders} {
    global ns
    set line "[$ns now] [$monitor set pkts_] [$monitor set pdrops_]"
    foreach tcp $senders { append line " [$tcp set ack_] [$tcp set nrexmit_]" }
    puts $line
    $ns at [expr {[$ns now] + 0.1}] [list record $monitor $senders]
}

$path
$ns run
