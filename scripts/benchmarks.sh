#!/usr/bin/env bash
# What a request costs, measured against the floor (tests/bench/floor.c), other servers, and an older cloudgate.
#   ./scripts/benchmarks.sh [--quick] [--rounds N] [--seconds N] [--row NAME]... [--peer BINARY] [--markdown]
#                           [--json FILE] [--svg FILE]
# --peer compares with another build of cloudgate; OLD_SERVER=FOLDER names one where npm has put the server that this one
# succeeds. Rows: see the end of this file.
#
# All servers run at once, each with one serving thread on CPU 0; CPU 1 loads one at a time, in turns, so that
# whatever else the machine does hits them alike.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages
. scripts/bench/servers
. scripts/bench/loads
. scripts/bench/report

rounds=5 seconds=3 connections=64 idlers=2000 format=terminal json='' svg='' peer=''
declare -A only=()

usage()
{
    sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

while [ $# != 0 ]; do
    case $1 in
    --quick) rounds=1 seconds=1 idlers=500 ;;
    --markdown) format=markdown ;;
    --rounds | --seconds)
        [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || usage
        declare "${1#--}=$2"
        shift
        ;;
    --json | --svg | --peer)
        [ $# -ge 2 ] || usage
        declare "${1#--}=$2"
        shift
        ;;
    --row)
        [ $# -ge 2 ] || usage
        only[$2]=1
        shift
        ;;
    *) usage ;;
    esac
    shift
done

if [ "$(nproc)" -lt 2 ]; then
    note "two CPUs are needed: one for the servers, one for the load"
    exit 1
fi
# shellcheck disable=SC2154
install_missing $build_packages $load_packages nghttp2-client curl openssl util-linux
make -s all bench
bench=$PWD/$(make -s show-BUILD)/bench

work=$(mktemp -d "${TMPDIR:-/tmp}/cloudgate-bench.XXXXXX")
finish()
{
    stop_all
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

wanted() # ROW
{
    [ ${#only[@]} = 0 ] || [ -n "${only[$1]:-}" ]
}

# The rounds of one row: each server is loaded once in each. A server is left out where it is not running.
row() # NAME LOAD PATH SERVER[=PATH]... [-- OPTIONS...]
{
    local name=$1 load=$2 path=$3 server round servers=()
    shift 3
    wanted "$name" || return 0
    while [ $# != 0 ] && [ "$1" != -- ]; do
        ! is_running "${1%%=*}" || servers+=("$1")
        shift
    done
    [ $# = 0 ] || shift
    for ((round = 1; round <= rounds; round++)); do
        note "$name: round $round of $rounds"
        for server in "${servers[@]}"; do
            case $server in
            *=*) "$load" "$name" "${server%%=*}" "${server#*=}" "$@" ;;
            *) "$load" "$name" "$server" "$path" "$@" ;;
            esac
        done
    done
}

# The same, beside the floor: it answers with as many bytes as cloudgate does.
row_with_floor() # NAME LOAD PATH SERVER...
{
    wanted "$1" || return 0
    start_floor "$(curl -s -f -o /dev/null -w '%{size_download}' "$(url_of cloudgate "$3")")"
    row "$1" "$2" "$3" floor "${@:4}"
    stop floor
}

median_of() # ROW SERVER NAME
{
    medians | awk -v key="$1 $2 $3" '$1 " " $2 " " $3 == key { print int($4) }'
}

# At half of what the old server can do at most, if it is there, and else of what cloudgate can.
open_loop_row()
{
    local most
    wanted open-loop && [ -s "$work/results" ] || return 0
    most=$(median_of html old rate)
    [ -n "$most" ] || most=$(median_of html cloudgate rate)
    [ -n "$most" ] || { note "left out: open-loop (it needs the row html)" && return 0; }
    row open-loop at_rate /page.html cloudgate nginx h2o lighttpd old -- $((most / 2))
}

start_row()
{
    local round port
    wanted start || return 0
    for ((round = 1; round <= rounds; round++)); do
        port=$(free_port)
        until_first_answer start cloudgate "$port" / \
            env HOST=127.0.0.1 PORT="$port" STATE_DIR="$work/start" FUNCTIONS="$work/functions" ./cloudgate .
    done
}

make_content
start_cloudgate ./cloudgate cloudgate
[ -z "$peer" ] || start_cloudgate "$peer" peer
start_nginx
start_h2o
start_lighttpd
start_kore
start_old
start_ws

row_with_floor html with_wrk /page.html cloudgate peer nginx h2o lighttpd old
row_with_floor png with_wrk /image.png cloudgate peer nginx h2o lighttpd old
row_with_floor simple with_wrk /api/tests/simple cloudgate peer kore old=/tests/simple
row_with_floor full with_wrk /api/tests/full cloudgate peer kore old=/tests/full
row_with_floor template with_wrk /api/tests/template cloudgate peer old=/tests/template
row_with_floor pipelined with_pipelines /page.html cloudgate peer nginx
row bundle with_ab /bundle.jpg cloudgate peer nginx h2o lighttpd
row bundle-keepalive with_ab /bundle.jpg cloudgate peer nginx h2o lighttpd -- -k
row upload with_uploads /api/ingest cloudgate peer
row tls with_wrk /page.html cloudgate.tls peer.tls nginx.tls h2o.tls
row tls-full with_handshakes /page.html cloudgate.tls peer.tls nginx.tls h2o.tls -- full
row tls-resumed with_handshakes /page.html cloudgate.tls peer.tls nginx.tls -- resumed
row http2 with_h2load /page.html cloudgate.tls peer.tls nginx.tls h2o.tls
row websocket with_websockets /api/sockets cloudgate peer ws -- echo "$connections"
row websocket-fan with_websockets "/api/sockets?fan" cloudgate peer ws -- fan 1000
open_loop_row
# Once: what was allocated for the first crowd serves the next.
once() # ARGUMENTS-OF-ROW...
{
    local rounds=1
    row "$@"
}
once idle with_idlers /page.html cloudgate peer nginx h2o -- plain $((2 * idlers))
once idle-tls with_idlers /page.html cloudgate.tls peer.tls nginx.tls h2o.tls -- tls "$idlers"
once idle-http2 with_idlers /page.html cloudgate.tls peer.tls nginx.tls h2o.tls -- h2 "$idlers"
once idle-websocket with_idlers /api/sockets cloudgate peer ws -- websocket $((2 * idlers))
start_row

[ -s "$work/results" ] || { note "no such row: ${!only[*]}" && exit 2; }
describe_machine
echo
print_table "$format"
[ -z "$json" ] || print_json >"$json"
[ -z "$svg" ] || print_svg >"$svg"
