# make                              the binary, ./cloudgate
# make test                         builds and runs every test (scripts/test installs what it needs first)
# make SANITIZE=address,undefined   or SANITIZE=thread: the same under a sanitizer, in its own build folder
# make install PREFIX=/usr/local    binary, header, cloudgate.pc
# make lint | format | fuzz | clean

PREFIX ?= /usr/local
DESTDIR ?=
CC ?= cc
FUZZ_CC ?= clang
PKG_CONFIG ?= pkg-config
SANITIZE ?=
WERROR ?=

VERSION := $(shell cat VERSION)
comma := ,
# WERROR has a folder of its own too: an object built without it would hide its warnings.
VARIANT := $(notdir $(CC))$(if $(SANITIZE),-$(subst $(comma),-,$(SANITIZE)))$(if $(WERROR),-werror)
BUILD := build/$(VARIANT)

PACKAGES := libnghttp2 libssl libcrypto yaml-0.1 libsodium jansson libbrotlienc libbrotlidec libdw
TEST_PACKAGES := check libcurl

# libh2o's own .pc file names no dependencies; of libh2o we use the event loop and the HTTP/1 tokeniser.
LDLIBS := -lh2o-evloop $(shell $(PKG_CONFIG) --libs $(PACKAGES)) -lz -ldl -pthread
TEST_LDLIBS = $(shell $(PKG_CONFIG) --libs $(TEST_PACKAGES))
E2E_LDLIBS := $(TEST_LDLIBS) -lnghttp2 -lssl -lcrypto -ljansson -lz -lbrotlidec -pthread

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla $(if $(WERROR),-Werror)
HARDENING := -fstack-protector-strong -fPIE $(if $(SANITIZE),,-D_FORTIFY_SOURCE=2) -Wformat -Wformat-security
OPTIMIZE := $(if $(SANITIZE),-O1 -fno-omit-frame-pointer,-O2) -g
CPPFLAGS += -D_GNU_SOURCE -DH2O_USE_LIBUV=0 -DCLOUDGATE_VERSION='"$(VERSION)"' -Iinclude -Iserver -I. \
            $(shell $(PKG_CONFIG) --cflags $(PACKAGES))
CFLAGS += -std=gnu11 $(OPTIMIZE) $(WARNINGS) $(HARDENING) -fvisibility=hidden -pthread \
          $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=undefined)
LDFLAGS += -pie -Wl,-z,relro,-z,now -Wl,--dynamic-list=server/cloudgate.syms \
           $(if $(SANITIZE),-fsanitize=$(SANITIZE))

SOURCES := $(wildcard server/*.c server/*/*.c shm/*.c)
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o)
LIBRARY := $(BUILD)/libcloudgate.a
BINARY := $(BUILD)/cloudgate

UNIT_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/*_test.c))
E2E_SUPPORT := $(filter-out %_test.c,$(wildcard tests/e2e/*.c))
E2E_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/e2e/*_test.c))
# Each is built upon the end-to-end harness, and may look at the clock.
LOAD_SUPPORT := $(E2E_SUPPORT) $(filter-out %_test.c,$(wildcard tests/load/*.c))
LOAD_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/load/*_test.c))
BENCH_SUPPORT := tests/bench/bench.c
BENCH := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(filter-out $(BENCH_SUPPORT),$(wildcard tests/bench/*.c)))
FUZZERS := $(patsubst tests/fuzz/%.c,build/fuzz/%,$(filter-out %/replay.c,$(wildcard tests/fuzz/*.c)))
REPLAYS := $(patsubst tests/fuzz/%.c,$(BUILD)/replay/%,$(filter-out %/replay.c,$(wildcard tests/fuzz/*.c)))

# The demo shows the sources of its functions; links out of public/ are not followed, so they are copied.
SAMPLES := $(patsubst %,public/samples/%.txt,counter.c chat.c upload.c tests/simple.c tests/full.c tests/template.c \
                                             tests/template.html)

all: cloudgate $(SAMPLES)

# ./cloudgate is whatever variant was built last. It is no file to make: its age says nothing about that of another variant.
cloudgate: $(BINARY)
	@cmp -s $< $@ || install -m 755 $< $@

$(SAMPLES): public/samples/%.txt: functions/%
	@mkdir -p $(@D)
	@cp $< $@

$(BINARY): $(BUILD)/server/main.o $(LIBRARY) server/cloudgate.syms
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(BUILD)/server/main.o -Wl,--whole-archive $(LIBRARY) -Wl,--no-whole-archive $(LDLIBS)

$(LIBRARY): $(filter-out %/server/main.o,$(OBJECTS))
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# Tests are linked with the parts of the library that they use, so each unit can be tested on its own.
$(UNIT_TESTS): $(BUILD)/%: $(BUILD)/%.o $(LIBRARY)
	$(CC) $(CFLAGS) -o $@ $< $(LIBRARY) $(TEST_LDLIBS) $(LDLIBS)

$(E2E_TESTS): $(BUILD)/%: $(BUILD)/%.o $(E2E_SUPPORT:%.c=$(BUILD)/%.o)
	$(CC) $(CFLAGS) -o $@ $^ $(E2E_LDLIBS)

$(LOAD_TESTS): $(BUILD)/%: $(BUILD)/%.o $(LOAD_SUPPORT:%.c=$(BUILD)/%.o)
	$(CC) $(CFLAGS) -o $@ $^ $(E2E_LDLIBS)

$(BUILD)/bench/%: $(BUILD)/tests/bench/%.o $(BENCH_SUPPORT:%.c=$(BUILD)/%.o)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $^ -lssl -lcrypto

# A fuzz target is built twice: with libFuzzer (make fuzz), and with a plain main that replays its corpus.
$(REPLAYS): $(BUILD)/replay/%: $(BUILD)/tests/fuzz/%.o $(BUILD)/tests/fuzz/replay.o $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)

build/fuzz/%: $(BUILD)/tests/fuzz/%.o $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -fsanitize=fuzzer -o $@ $^ $(LDLIBS)

-include $(OBJECTS:.o=.d)
-include $(patsubst %,%.d,$(UNIT_TESTS) $(E2E_TESTS) $(LOAD_TESTS)) $(wildcard $(BUILD)/tests/*/*.d)

unit-tests: $(UNIT_TESTS) $(REPLAYS)
e2e-tests: $(BINARY) $(E2E_TESTS)
load-tests: $(BINARY) $(LOAD_TESTS)
bench: $(BENCH)
fuzzers: $(FUZZERS)
fuzz:
	$(MAKE) CC=$(FUZZ_CC) SANITIZE=fuzzer-no-link,address,undefined fuzzers

test:
	./scripts/test

# tests/stories holds functions as their authors wrote them.
FORMATTED := $(wildcard include/*.h server/*.[ch] server/*/*.[ch] shm/*.[ch] functions/*.[ch] functions/*/*.[ch] \
                        tests/unit/*.[ch] tests/e2e/*.[ch] tests/fuzz/*.[ch] tests/bench/*.[ch] tests/load/*.[ch] \
                        tests/load/functions/*.c)
format:
	clang-format -i $(FORMATTED)

check-format:
	clang-format --dry-run -Werror $(FORMATTED)

lint: check-format
	./scripts/check-layers
	./scripts/tidy

install: $(BINARY)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/lib/pkgconfig
	install -m 755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/cloudgate
	install -m 644 include/cloudgate.h $(DESTDIR)$(PREFIX)/include/cloudgate.h
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' cloudgate.pc.in > $(DESTDIR)$(PREFIX)/lib/pkgconfig/cloudgate.pc

clean:
	rm -rf build cloudgate public/samples

# make show-BUILD prints a variable; the scripts ask here instead of repeating it.
show-%:
	@:$(info $($*))

.PHONY: all cloudgate unit-tests e2e-tests load-tests bench fuzz fuzzers test format check-format lint install clean
.SECONDARY:
