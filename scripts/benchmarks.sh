#!/usr/bin/env bash
# What a request costs, measured against the floor (tests/bench/floor.c) and nginx.
#   ./scripts/benchmarks.sh [--quick] [--markdown] [--rounds N] [--seconds N] [--row NAME]
#
# All servers run at once, each with one serving thread on CPU 0; wrk loads one at a time from CPU 1, in turns, so that
# whatever else the machine does hits them alike. The numbers are medians over the rounds. CPU time is what the
# kernel charged to the server's processes (/proc/PID/task/*/schedstat; the split into user and system is that of
# /proc/PID/stat), divided by the answers that wrk counted. What is not installed is left out, and named.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages

rounds=5 seconds=3 markdown=0 only=
connections=64

usage()
{
    sed -n '2,3s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

while [ $# != 0 ]; do
    case $1 in
    --quick) rounds=1 seconds=1 ;;
    --markdown) markdown=1 ;;
    --rounds | --seconds)
        [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || usage
        declare "${1#--}=$2"
        shift
        ;;
    --row)
        [ $# -ge 2 ] || usage
        only=$2
        shift
        ;;
    *) usage ;;
    esac
    shift
done

work=$(mktemp -d "${TMPDIR:-/tmp}/cloudgate-bench.XXXXXX")
declare -A pid_of port_of body_of
note() { echo "$*" >&2; }

finish()
{
    local pid
    for pid in "${pid_of[@]}"; do
        kill "$pid" 2>/dev/null || true
    done
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

# ---- servers ----

free_port()
{
    local port
    while :; do
        port=$((20000 + RANDOM % 12000))
        if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            echo "$port"
            return
        fi
    done
}

wait_for() # NAME
{
    local i
    for ((i = 0; i < 100; i++)); do
        curl -s -o /dev/null "http://127.0.0.1:${port_of[$1]}/" && return
        kill -0 "${pid_of[$1]}" 2>/dev/null || break
        sleep 0.1
    done
    note "$1 does not answer:"
    cat "$work/$1.log" >&2
    exit 1
}

# Files and functions that all servers are asked for.
make_content()
{
    mkdir -p "$work/public" "$work/functions/tests"
    printf '<!doctype html><title>page</title><p>%0*d</p>\n' $((612 - 42)) 0 >"$work/public/page.html"
    # A PNG's first bytes, and then bytes that do not compress.
    { printf '\211PNG\r\n\032\n' && openssl enc -aes-128-ctr -nosalt -pass pass:bench -in /dev/zero 2>/dev/null; } |
        head -c 15360 >"$work/public/image.png" || true
    cp functions/tests/*.c functions/tests/*.html "$work/functions/tests/"
    local size
    size=$(wc -c <"$work/public/page.html")
    [ "$size" = 612 ] || { note "page.html has $size bytes" && exit 1; }
}

start_cloudgate()
{
    if [ ! -x ./cloudgate ]; then
        note "left out: cloudgate (not built)"
        return
    fi
    port_of[cloudgate]=$(free_port)
    ./cloudgate build "$work" >"$work/cloudgate.log" 2>&1 || { cat "$work/cloudgate.log" >&2 && exit 1; }
    HOST=127.0.0.1 PORT=${port_of[cloudgate]} THREADS=1 taskset -c 0 ./cloudgate "$work" >>"$work/cloudgate.log" 2>&1 &
    pid_of[cloudgate]=$!
    wait_for cloudgate
}

start_nginx()
{
    if ! command -v nginx >/dev/null; then
        note "left out: nginx (not installed)"
        return
    fi
    port_of[nginx]=$(free_port)
    mkdir "$work/nginx"
    cat >"$work/nginx.conf" <<END
daemon off;
worker_processes 1;
pid $work/nginx/pid;
error_log $work/nginx/error.log;
events { worker_connections 4096; }
http {
    types { text/html html; image/png png; }
    access_log off;
    sendfile on;
    tcp_nopush on;
    open_file_cache max=1000 inactive=60s;
    open_file_cache_valid 60s;
    keepalive_requests 1000000000;
    client_body_temp_path $work/nginx/body;
    proxy_temp_path $work/nginx/proxy;
    fastcgi_temp_path $work/nginx/fastcgi;
    uwsgi_temp_path $work/nginx/uwsgi;
    scgi_temp_path $work/nginx/scgi;
    server { listen 127.0.0.1:${port_of[nginx]} backlog=4096; root $work/public; }
}
END
    # A worker that a root master starts would drop to a user who can't look into the folder.
    [ "$(id -u)" != 0 ] || sed -i '1i user root;' "$work/nginx.conf"
    taskset -c 0 nginx -c "$work/nginx.conf" -p "$work/nginx" >"$work/nginx.log" 2>&1 &
    pid_of[nginx]=$!
    wait_for nginx
}

# The floor gives an answer as long as the one that it is compared with.
start_floor() # BYTES
{
    port_of[floor]=$(free_port)
    taskset -c 0 "$floor" "${port_of[floor]}" "$1" >"$work/floor.log" 2>&1 &
    pid_of[floor]=$!
    wait_for floor
}

stop_floor()
{
    kill "${pid_of[floor]}"
    wait "${pid_of[floor]}" 2>/dev/null || true
    unset "pid_of[floor]"
}

# ---- measuring ----

# A process and its descendants.
family() # PID
{
    local child
    echo "$1"
    for child in $(cat "/proc/$1/task/"*/children 2>/dev/null); do
        family "$child"
    done
}

# CPU time so far: nanoseconds in all, ticks in user mode, ticks in the kernel.
cpu_of() # PID
{
    local pid
    for pid in $(family "$1"); do
        cat "/proc/$pid/task/"*/schedstat | sed 's/^/run /'
        sed 's/.*) /stat /' "/proc/$pid/stat"
    done | awk '$1 == "run" { ns += $2 } $1 == "stat" { user += $13; kernel += $14 }
        END { printf "%.0f %d %d\n", ns, user, kernel }'
}

# Appends one line to the results: row server cpu user system requests/s p50 p99, times in microseconds.
measure() # ROW SERVER PATH
{
    local before after log="$work/wrk.log"
    before=$(cpu_of "${pid_of[$2]}")
    taskset -c 1 wrk -t1 -c"$connections" -d"${seconds}s" --latency "http://127.0.0.1:${port_of[$2]}$3" >"$log"
    after=$(cpu_of "${pid_of[$2]}")
    if grep -E 'Socket errors|Non-2xx' "$log" >&2; then
        note "$2 made errors on $3"
        exit 1
    fi
    awk -v row="$1" -v server="$2" -v before="$before" -v after="$after" '
        function us(text) {
            if (text ~ /us$/) return text + 0
            if (text ~ /ms$/) return text * 1e3
            return text * 1e6
        }
        $1 == "50%" { p50 = us($2) }
        $1 == "99%" { p99 = us($2) }
        / requests in / { requests = $1 }
        /^Requests\/sec:/ { rate = $2 }
        END {
            split(before, b, " ")
            split(after, a, " ")
            cpu = (a[1] - b[1]) / 1000 / requests
            ticks = a[2] - b[2] + a[3] - b[3]
            user = ticks ? cpu * (a[2] - b[2]) / ticks : 0
            print row, server, cpu, user, cpu - user, rate, p50, p99
        }' "$log" >>"$work/results"
}

measure_row() # ROW PATH SERVER...
{
    local row=$1 path=$2 round server
    shift 2
    [ -z "$only" ] || [ "$only" = "$row" ] || return 0
    [ -n "${pid_of[cloudgate]:-}${pid_of[nginx]:-}" ] || { note "nothing to compare with the floor" && exit 1; }
    body_of[$row]=$(curl -s -f -o /dev/null -w '%{size_download}' "http://127.0.0.1:${port_of[$1]}$path") ||
        { note "$1 does not serve $path" && exit 1; }
    start_floor "${body_of[$row]}"
    for ((round = 1; round <= rounds; round++)); do
        note "$row: round $round of $rounds"
        for server in floor "$@"; do
            measure "$row" "$server" "$path"
        done
    done
    stop_floor
}

# ---- results ----

# Medians: one line for each row and server, in the order of measuring.
medians()
{
    awk '
    function median(list,    n, part, i, j, swap) {
        n = split(list, part, " ")
        for (i = 1; i < n; i++)
            for (j = i + 1; j <= n; j++)
                if (part[j] + 0 < part[i] + 0) {
                    swap = part[i]
                    part[i] = part[j]
                    part[j] = swap
                }
        return n % 2 ? part[(n + 1) / 2] : (part[n / 2] + part[n / 2 + 1]) / 2
    }
    {
        key = $1 " " $2
        if (!(key in seen)) {
            seen[key]
            order[++count] = key
        }
        for (i = 3; i <= 8; i++)
            values[key, i] = values[key, i] " " $i
    }
    END {
        for (k = 1; k <= count; k++) {
            line = order[k]
            for (i = 3; i <= 8; i++)
                line = line " " median(values[order[k], i])
            print line
        }
    }' "$work/results"
}

print_table()
{
    local sizes='' row
    for row in "${!body_of[@]}"; do
        sizes+="$row=${body_of[$row]} "
    done
    medians | awk -v markdown="$markdown" -v sizes="$sizes" '
    function line(a, b, c, d, e, f, g, h, i) {
        printf markdown ? "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n" \
                        : "%-16s %-10s %8s %8s %8s %8s %10s %8s %8s\n", a, b, c, d, e, f, g, h, i
    }
    BEGIN {
        n = split(sizes, part, " ")
        for (i = 1; i <= n; i++) {
            split(part[i], pair, "=")
            size[pair[1]] = pair[2]
        }
        line("row (bytes)", "server", "CPU us", "user", "system", "x floor", "requests/s", "p50 us", "p99 us")
        if (markdown)
            print "|---|---|--:|--:|--:|--:|--:|--:|--:|"
    }
    {
        if ($2 == "floor")
            floor = $3
        line($1 " (" size[$1] ")", $2, sprintf("%.2f", $3), sprintf("%.2f", $4), sprintf("%.2f", $5),
             sprintf("%.2f", $3 / floor), sprintf("%.0f", $6), sprintf("%.0f", $7), sprintf("%.0f", $8))
    }'
}

print_machine()
{
    local model
    model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
    echo "$model, Linux $(uname -r), $(date -u +%F). CPU time per request and latency are medians of $rounds rounds" \
        "of $seconds s; wrk -t1 -c$connections on CPU 1, one serving thread on CPU 0."
    if [ -n "${pid_of[nginx]:-}" ]; then
        echo "$(nginx -v 2>&1 | sed 's/^nginx version: //'): one worker, sendfile, open_file_cache, no access log."
    fi
    echo
}

command -v wrk >/dev/null || install_missing wrk
install_missing curl openssl util-linux
# shellcheck disable=SC2154
install_missing $build_packages
make -s all bench
floor=$(make -s show-BUILD)/bench/floor

if [ "$(nproc)" -lt 2 ]; then
    note "two CPUs are needed: one for the servers, one for the load"
    exit 1
fi

make_content
start_cloudgate
start_nginx
static=()
for server in cloudgate nginx; do
    [ -z "${pid_of[$server]:-}" ] || static+=("$server")
done
measure_row html /page.html "${static[@]}"
measure_row png /image.png "${static[@]}"
if [ -n "${pid_of[cloudgate]:-}" ]; then
    for name in simple full template; do
        measure_row "$name" "/api/tests/$name" cloudgate
    done
fi
[ -s "$work/results" ] || { note "no such row: $only" && exit 2; }
print_machine
print_table
