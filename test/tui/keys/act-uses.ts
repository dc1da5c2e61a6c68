import type { Uses } from './use.js';

const toRunning = { from: ['3', 'down', 'down', 'down', 'down'], at: /│ ● C_dense_multi_N16_s2/ };
const toFailed = { from: ['2', ...Array<string>(8).fill('down')], at: /│ ✗ B_nsweep_single_B8_N64_s2/ };
const toFirstRun = { from: ['down', 'down'], at: /│ ✓ A_bsweep_single_N1024_binary_s0/ };
const back = ['home'];

/** What acts on runs, on the machine they run on, or opens other programs. The supervisor answers with what it was asked. */
export const actUses: Uses = {
  kill: [
    {
      ...{ ...toRunning, back },
      sees: [/Kill C_dense_multi_N16_s2\?/],
      answer: { key: 'y', sees: /asked: kill abcd\/C_dense_multi_N16_s2 *$/m },
    },
    { where: 'twice', ...toRunning, back, sees: [/Kill C_dense_multi_N16_s2\?/, /Nothing was killed/] },
  ],
  'kill-group': [
    {
      ...{ from: ['3'], at: /│ C {2}dense/, back },
      sees: [/Kill 13 runs of C\?/],
      answer: { key: 'enter', sees: /asked: kill abcd\/C_dense_multi_N16_s2 abcd\/C_dense/ },
    },
    { where: 'twice', from: ['3'], at: /│ C {2}dense/, back, sees: [/Kill 13 runs of C\?/, /Nothing was killed/] },
  ],
  resume: [{ ...toFailed, sees: [/asked: resume abcd\/B_nsweep_single_B8_N64_s2 *$/m], back }],
  'resume-group': [
    {
      ...{ from: ['2'], at: /│ B {2}secret/, back },
      sees: [/asked: resume abcd\/B_nsweep_single_B8_N16_s1 abcd\/B_nsweep_single_B8_N64_s2 *$/m],
    },
  ],
  hold: [
    {
      ...{ from: ['end'], at: /│ ○ J_waits/, back },
      sees: (key) => [
        new RegExp(`asked: hold abcd/J_waits · ${key} releases it`),
        new RegExp(`asked: release abcd/J_waits · ${key} holds it`),
      ],
    },
  ],
  'hold-group': [
    {
      ...{ from: ['4'], at: /│ D {2}supervised/, back },
      sees: [
        /asked: hold abcd\/D_sft_N1024_s0 abcd\/D_sft_N1024_s1/,
        /asked: release abcd\/D_sft_N1024_s0 abcd\/D_sft/,
      ],
    },
  ],
  pause: [
    {
      ...{ ...toRunning, back },
      sees: [/asked: pause abcd\/C_dense_multi_N16_s2 /, /asked: continue abcd\/C_dense_multi_N16_s2 /],
    },
  ],
  'pause-group': [
    {
      ...{ from: ['3'], at: /│ C {2}dense/, back },
      sees: [/asked: pause (abcd\/C_dense_multi_N\d+_s\d ){2}/, /asked: continue (abcd\/C_dense_multi_N\d+_s\d ){2}/],
    },
  ],
  extend: [{ sees: [/╭─ extend abcd[^]*1 new run/], back: ['escape'] }],
  clone: [{ ...toFirstRun, sees: [/╭─ clone A_bsweep_single_N1024_binary_s0[^]*1 new run/], back: ['escape', 'home'] }],
  'more-slots': [{ sees: [/3 slots now/, /4 slots now/], back: ['-', '-'] }],
  'fewer-slots': [{ sees: [/1 slot now; the 2 runs that hold one keep it/, /0 slots now/], back: ['+', '+'] }],
  copy: [{ ...toFirstRun, sees: [/Copied: memrl train A_bsweep_single_N1024_binary_s0/], back }],
  shell: [
    {
      ...toFirstRun,
      sees: [/^a shell in \/runs\/abcd\/A_bsweep_single_N1024_binary_s0$/m],
      back: ['enter', 'home'],
    },
  ],
  terminal: [{ ...toRunning, sees: [/the terminal of C_dense_multi_N16_s2$/m], back: ['enter', 'home'] }],
  type: [
    {
      ...{ ...toRunning, sees: [/─ type into C_dense_multi_N16_s2 ─/], back: ['escape', 'home'] },
      answer: { key: 'enter', sees: /asked: type abcd\/C_dense_multi_N16_s2/ },
    },
  ],
  palette: [{ sees: [/╭─ command/], back: ['escape'] }],
};
