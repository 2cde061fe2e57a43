#!/usr/bin/env bash
# Make the virtual environment, and install the programs that the project needs: Java 17+ for Spark, Chromium for the
# browser tests, tshark and Lua to dissect captures in tests, an sshd for the tests of agents over ssh, and Mono to
# compile and run the agent for Windows. Usage: setup.sh PYTHON VENV
set -euo pipefail
python=$1 venv=$2

say() { printf 'setup: %s\n' "$*" >&2; }
can_install() { command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; }
install() {
    say "installing $*"
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1 || {
        apt-get update -qq >/dev/null
        apt-get install -y -qq --no-install-recommends "$@" >/dev/null
    }
}
java_version() { "${JAVA_HOME:+$JAVA_HOME/bin/}java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p;T;q'; }

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    say "$python is too old; install Python 3.11 or newer, or name one: make PYTHON=python3.12 setup"
    exit 1
}
version=$(java_version || true)
if [ "${version:-0}" -lt 17 ]; then
    can_install || { say "Spark needs Java 17 or newer: install openjdk-17-jre-headless (or set JAVA_HOME)"; exit 1; }
    install openjdk-17-jre-headless
fi
if ! command -v chromium >/dev/null; then
    can_install || { say "the browser tests need Chromium: install the package chromium"; exit 1; }
    install chromium
fi
if ! command -v mcs >/dev/null || [ ! -e /usr/lib/mono/4.5/System.Messaging.dll ]; then
    if can_install; then
        install mono-mcs libmono-system-messaging4.0-cil libmono-system-transactions4.0-cil \
            libmono-system-serviceprocess4.0-cil ||
            say "Mono cannot be installed: the tests of the Windows agent are skipped"
    fi
fi
if ! command -v gcc >/dev/null && can_install; then
    install gcc libc6-dev || say "gcc cannot be installed: the tests of the C functions for the Windows agent are skipped"
fi
if ! command -v tshark >/dev/null && can_install; then
    install tshark || say "tshark cannot be installed: the tests that need it are skipped"
fi
if ! { command -v lua5.2 && command -v lua5.4; } >/dev/null && can_install; then
    install lua5.2 lua5.4 || say "Lua cannot be installed: the dissector is only tested in tshark's Lua"
fi
if ! [ -x /usr/sbin/sshd ] || ! command -v ssh >/dev/null; then
    can_install || { say "the tests of agents over ssh need openssh-server and openssh-client: install them"; exit 1; }
    install openssh-server openssh-client
fi
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv" || {
    can_install || { say "$python cannot make virtual environments: install python3-venv"; exit 1; }
    install python3-venv
    "$python" -m venv "$venv"
}
# A virtual environment that uv made has no pip.
"$venv/bin/python" -m pip --version >/dev/null 2>&1 || "$venv/bin/python" -m ensurepip >/dev/null
"$venv/bin/python" -m pip install -q --disable-pip-version-check 'uv>=0.8,<1'
# uv trusts its own list of certificate authorities. Let it use the machine's list, as pip does: the machine's list may
# contain the authority of a company's proxy.
[ -s /etc/ssl/certs/ca-certificates.crt ] && export UV_SYSTEM_CERTS="${UV_SYSTEM_CERTS:-1}"
VIRTUAL_ENV=$PWD/$venv "$venv/bin/uv" sync -q --frozen --active --inexact --extra reports --extra sql --extra learn
# This archive saves five seconds in every command and test that starts Spark.
[ -s "$venv/share/mqconform/spark.jsa" ] && [ "$venv/share/mqconform/spark.jsa" -nt uv.lock ] ||
    "$venv/bin/python" scripts/java_classes.py || say "Java cannot archive Spark's classes: each start takes some seconds longer"
say "ready: $venv/bin/mqconform"
