import { not, type Uses } from './use.js';

const back = ['escape'];

const failed = ['2', ...Array<string>(8).fill('down')];
/** What chooses what the list shows, and how. */
export const listUses: Uses = {
  mark: [{ sees: [/◆ 15 marked/, not(/◆ 15 marked/)] }],
  'mark-all': [{ sees: [/54 runs marked/, /No run is marked/] }],
  star: [
    {
      from: ['down', 'down'],
      at: /│ ✓ A_bsweep_single_N1024_binary_s0/,
      sees: [/asked: annotate abcd\/A_bsweep_single_N1024_binary_s0/],
      back: ['home'],
    },
  ],
  filter: [
    { sees: [/^ \/ .* 54 of 54 runs/m], back },
    {
      where: 'in a log',
      from: ['down', 'down', 'enter'],
      at: /end · 12 KiB/,
      sees: [/^ \/ .* in the log · regular expression/m],
      back: ['escape', 'escape', 'home'],
    },
  ],
  failures: [{ sees: [/what went wrong .* runs/, not(/what went wrong/)] }],
  group: [{ sees: [/╭─ group by/], back }],
  sort: [
    {
      sees: [
        ...[
          /Sorted by state, most urgent first/,
          /Sorted by test\/bits_known, highest first/,
          /Sorted by time, longest first/,
        ],
        ...[/Sorted by name, A first/, /Sorted by file order\./],
      ],
    },
  ],
  'reverse-sort': [{ sees: [/Sorted by file order, reversed/, /Sorted by file order\./] }],
  columns: [{ sees: [/╭─ columns/], back }],
  views: [{ sees: [/╭─ views/], back }],
  'first-error': [
    {
      ...{ from: failed, at: /│ ✗ B_nsweep_single_B8_N64_s2/ },
      sees: [/━━ log[^]*▸ Traceback/],
      back: ['escape', 'home'],
    },
  ],
};
