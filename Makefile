# iotape. GNU make, no configure step. Useful variables: CC CFLAGS LDFLAGS DESTDIR prefix V=1
# SAN=address,undefined BUILD=DIR. Targets: all deps deps-servers demo check bench man install uninstall clean.

CC       ?= gcc
CFLAGS   ?= -O2 -g
CLANG    ?= clang
BPFTOOL  ?= $(shell command -v bpftool || echo /usr/sbin/bpftool)
BUILD    ?= build
# Not `:=`, since `make deps all` installs gcc first.
MULTIARCH = $(shell gcc -print-multiarch 2>/dev/null) # where asm/types.h is, which -target bpf does not find
BPF_ARCH ?= $(patsubst x86_64,x86,$(shell uname -m)) # what the eBPF programs will run on
prefix   ?= /usr/local
bindir   ?= $(prefix)/bin
mandir   ?= $(prefix)/share/man
SUDO     := $(if $(filter 0,$(shell id -u)),,sudo)

# What Debian 12 calls what we need: to build, to run the tests, and the servers that some tests replay to, which not
# everybody wants on a machine of theirs.
BUILD_PACKAGES  := gcc make pkg-config clang llvm bpftool libbpf-dev libarchive-dev libmsgpack-dev libaio-dev \
	libcsv-dev libzstd-dev libxxhash-dev libroaring-dev libblkid-dev libmd-dev libjansson-dev libnbd-dev libiscsi-dev \
	libnfs-dev libcairo2-dev libtracefs-dev libtraceevent-dev libpcap-dev libcap-dev libseccomp-dev libvirt-dev \
	libxml2-dev
TEST_PACKAGES   := libcmocka-dev perl fio e2fsprogs xfsprogs util-linux procps zstd python3 python3-msgpack nbdkit libnbd-bin \
	fuse3 kmod blktrace libiscsi-bin libxml2-utils chromium-headless-shell tcpdump tshark iperf3 \
	redis-server curl iproute2 libcap2-bin systemd
SERVER_PACKAGES := tgt nfs-ganesha nfs-ganesha-vfs nfs-ganesha-mem rpcbind qemu-system-x86 qemu-utils busybox-static \
	cpio libvirt-daemon libvirt-daemon-driver-qemu libvirt-clients

WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
ALL_CPPFLAGS := -D_GNU_SOURCE -I. -I$(BUILD) $(CPPFLAGS)
ALL_CFLAGS   := -std=gnu11 $(WARN) $(CFLAGS) -pthread $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer)
ALL_LDFLAGS  := $(LDFLAGS) -pthread $(if $(SAN),-fsanitize=$(SAN))

TAPE_LIBS    := -larchive -lmsgpackc -lzstd -lxxhash -lmd -lcsv -ljansson -lpcap -lm
RECORD_LIBS  := -lbpf -ltracefs -ltraceevent -lcap -lseccomp -lvirt -lxml2
REPLAY_LIBS  := -laio -lblkid -lroaring -lnbd -liscsi -lnfs
ANALYZE_LIBS := -lcairo

TAPE_SRC    := $(wildcard formats/*.c formats/base/*.c formats/import/*.c formats/export/*.c formats/results/*.c)
RECORD_SRC  := $(wildcard record/*.c record/source/*.c)
REPLAY_SRC  := $(wildcard replay/*.c replay/target/*.c replay/peer/*.c)
ANALYZE_SRC := $(wildcard analyze/*.c analyze/profile/*.c analyze/report/*.c analyze/plot/*.c)
BPF_SRC     := $(wildcard record/source/*.bpf.c)
RECORD_SRC  := $(filter-out $(BPF_SRC),$(RECORD_SRC))
TEST_SRC    := $(wildcard tests/test_*.c)
FUZZ_SRC    := $(wildcard tests/fuzz/fuzz_*.c)
PROGRAMS    := $(BUILD)/iotape-record $(BUILD)/iotape-replay $(BUILD)/iotape-analyze

obj = $(patsubst %.c,$(BUILD)/%.o,$(1))
Q   := $(if $(V),,@)
say  = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2))

all: $(PROGRAMS)

$(BUILD)/libtape.a: $(call obj,$(TAPE_SRC))
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

define program
$(BUILD)/iotape-$(1): $(call obj,$(2)) $(BUILD)/libtape.a
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) $$(ALL_LDFLAGS) -o $$@ $$^ $(3) $(TAPE_LIBS)
endef
$(eval $(call program,record,$(RECORD_SRC),$(RECORD_LIBS)))
$(eval $(call program,replay,$(REPLAY_SRC),$(REPLAY_LIBS)))
$(eval $(call program,analyze,$(ANALYZE_SRC),$(ANALYZE_LIBS)))

# libtracefs includes libtraceevent's headers without their folder.
$(BUILD)/record/source/tracefs_events.o: ALL_CPPFLAGS += -isystem /usr/include/tracefs -isystem /usr/include/traceevent
$(BUILD)/record/guest_xml.o: ALL_CPPFLAGS += -isystem /usr/include/libxml2
$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# eBPF programs: clang builds the object, bpftool the skeleton header that their loader includes.
$(BUILD)/%.bpf.o: %.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF,$<)
	$(Q)$(CLANG) -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) -I. -idirafter /usr/include/$(MULTIARCH) -Wall -MMD -MP -c -o $@ $<
$(BUILD)/%.skel.h: $(BUILD)/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< > $@.tmp && mv $@.tmp $@
$(call obj,$(RECORD_SRC)): $(patsubst %.bpf.c,$(BUILD)/%.skel.h,$(BPF_SRC))
.SECONDARY:

# Unit tests may use everything but the programs' main files.
TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(TEST_SRC))
PARTS := $(call obj,$(filter-out %/main.c,$(RECORD_SRC) $(REPLAY_SRC) $(ANALYZE_SRC)))
$(BUILD)/tests/test_%: $(BUILD)/tests/test_%.o $(PARTS) $(BUILD)/libtape.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ -lcmocka $(RECORD_LIBS) $(REPLAY_LIBS) $(ANALYZE_LIBS) $(TAPE_LIBS)

# Small programs that command-line tests use.
TOOLS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/tool_*.c))
$(BUILD)/tests/tool_%: $(BUILD)/tests/tool_%.o $(BUILD)/libtape.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(TAPE_LIBS)

# A fuzz target is libFuzzer's entry point; in `make check` a small driver feeds it its corpus.
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/fuzz/%,$(FUZZ_SRC))
$(BUILD)/tests/fuzz/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/corpus.o $(BUILD)/libtape.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(TAPE_LIBS) $(FUZZ_LIBS)

$(BUILD)/tests/fuzz/fuzz_guest_xml: $(call obj,record/guest_xml.c record/guest.c)
$(BUILD)/tests/fuzz/fuzz_guest_xml: FUZZ_LIBS = -lxml2
$(BUILD)/tests/fuzz/fuzz_peer: $(call obj,$(addprefix replay/peer/,message.c events.c ledger.c))

tests: all $(TESTS) $(FUZZERS) $(TOOLS)

# On all CPUs, where nothing else is asked for: `make deps check` has an order that -j would not keep.
PARALLEL = $(MAKE) --no-print-directory $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))

CLI_TESTS ?= $(sort $(wildcard tests/*.t))
# CMOCKA_MESSAGE_OUTPUT makes unit tests speak TAP, as the command-line tests do; prove runs them all.
check:
	+$(Q)$(PARALLEL) tests
	CMOCKA_MESSAGE_OUTPUT=TAP BUILD=$(abspath $(BUILD)) SAN="$(SAN)" prove --failures --directives --timer $(PROVE_FLAGS) \
		$(TESTS) $(CLI_TESTS)

bench: all $(TOOLS)
	BUILD=$(abspath $(BUILD)) tests/bench/run $(BENCH)

demo:
	+$(Q)$(PARALLEL) all
	BUILD=$(abspath $(BUILD)) samples/demo

deps: PACKAGES = $(BUILD_PACKAGES) $(TEST_PACKAGES)
deps-servers: PACKAGES = $(SERVER_PACKAGES)
deps-servers: guest-kernel
deps deps-servers:
	@missing=$$(for p in $(PACKAGES); do \
		dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
	if [ -n "$$missing" ]; then $(SUDO) apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y --no-install-recommends $$missing; fi

# Of the guests that tests run: unpacked, not installed.
guest-kernel:
	@$(SUDO) tests/guest/kernel /var/cache/iotape-tests/guest-kernel

# Man pages come from the same tables as --help.
VERBS := show export profile compare plot report
MAN   := $(patsubst %,$(BUILD)/man/%.1,iotape-record iotape-replay iotape-analyze $(VERBS:%=iotape-analyze-%))
$(BUILD)/man/iotape-analyze-%.1: $(BUILD)/iotape-analyze
	@mkdir -p $(@D)
	$(Q)$< $* --help-man > $@.tmp && mv $@.tmp $@
$(BUILD)/man/%.1: $(BUILD)/%
	@mkdir -p $(@D)
	$(Q)$< --help-man > $@.tmp && mv $@.tmp $@
man: $(MAN)

install: all man
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(mandir)/man1
	install -m 755 $(PROGRAMS) $(DESTDIR)$(bindir)
	install -m 644 $(MAN) $(DESTDIR)$(mandir)/man1
uninstall:
	rm -f $(patsubst %,$(DESTDIR)$(bindir)/%,$(notdir $(PROGRAMS)))
	rm -f $(patsubst %,$(DESTDIR)$(mandir)/man1/%,$(notdir $(MAN)))

clean:
	rm -rf $(BUILD)

.PHONY: all tests check bench demo deps deps-servers guest-kernel man install uninstall clean
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
