import { isHome, not, type Use, type Uses } from './use.js';

const lastRow = /│ ○ J_waits/;
const binary = /│ binary *$/m;
const firstOfHelp = /│ most used/;
const secondSeed = ['down', 'down', 'down', 'enter'];
const openedSecondSeed = /^ ✓ A_bsweep_single_N1024_binary_s1[^]*end · 12 KiB/m;
const groupIsOpen = /runs │ charts/;

/** What moves, on the screens where it does. */
export const moveUses: Uses = {
  up: [
    { from: ['down', 'down'], at: /│ ✓ A_bsweep_single_N1024_binary_s0/, sees: [binary], back: ['home'] },
    {
      where: 'in a log',
      from: secondSeed,
      at: openedSecondSeed,
      sees: [/line 199 · 99 %/],
      back: ['escape', 'home'],
    },
  ],
  down: [
    { sees: [binary], back: ['home'] },
    {
      where: 'in the help, where letters are text',
      from: ['?'],
      at: firstOfHelp,
      sees: (key) => (key === 'j' ? [/╭─ keys › j/] : [not(firstOfHelp)]),
      back: ['escape', 'escape'],
    },
    { where: 'among GPUs', from: ['d'], at: /── GPU 0/, sees: [/── GPU 1/, not(/── GPU 1/)], back: ['escape'] },
  ],
  'page-up': [{ from: ['end'], at: lastRow, sees: [/│ ✓ B_nsweep_single_B8_N1024_s0/], back: ['home'] }],
  'page-down': [{ sees: [/│ ✓ B_nsweep_single_B8_N256_s2/], back: ['home'] }],
  first: [
    { from: ['end'], at: lastRow, sees: [isHome] },
    {
      where: 'in a log',
      from: secondSeed,
      at: openedSecondSeed,
      sees: [/^ +step 100 \|/m],
      back: ['escape', 'home'],
    },
  ],
  last: [{ sees: [lastRow], back: ['home'] }],
  jump: [
    {
      from: ['end'],
      at: lastRow,
      sees: (key) => [new RegExp(`│ ${'JABCDEFGHI'[Number(key)]}( |$)`, 'm')],
      back: ['home'],
    },
  ],
  'previous-branch': [
    { from: ['end'], at: lastRow, sees: [/│ J( |$)/m, /│ I( |$)/m], back: ['home'] },
    { where: 'on a run', from: ['down', 'down', 'down'], at: /_binary_s1/, sees: [binary], back: ['home'] },
  ],
  'next-branch': [{ sees: [binary, /│ B4 *$/m], back: ['home'] }],
  fold: [
    { sees: [/▸ 1 A/], back: ['right'] },
    { where: 'on a run', from: ['down', 'down'], at: /│ ✓ A_bsweep/, sees: [binary], back: ['home'] },
  ],
  unfold: [{ from: ['left'], at: /▸ 1 A/, sees: [/▾ 1 A/] }],
  left: [
    {
      where: 'on an open run',
      from: secondSeed,
      at: openedSecondSeed,
      sees: [/^ ✓ A_bsweep_single_N1024_binary_s0/m],
      back: ['escape', 'home'],
    },
    {
      where: 'in charts',
      from: ['enter', 'tab'],
      at: /━━ charts/,
      sees: [/x = 80000/],
      back: ['escape', 'escape'],
    },
  ],
  right: [
    {
      where: 'on an open run',
      from: secondSeed,
      at: openedSecondSeed,
      sees: [/^ ✓ A_bsweep_single_N1024_binary_s2/m],
      back: ['escape', 'home'],
    },
    {
      where: 'in charts',
      from: ['enter', 'tab'],
      at: /━━ charts/,
      sees: [/x = 400\b/],
      back: ['escape', 'escape'],
    },
  ],
  open: [
    { sees: [groupIsOpen], back: ['escape'] },
    {
      where: 'on a run',
      from: ['down', 'down', 'down'],
      at: /│ ✓ A_/,
      sees: [openedSecondSeed],
      back: ['escape', 'home'],
    },
    {
      where: 'among things compared',
      from: ['c'],
      at: /── compare · table/,
      sees: [groupIsOpen],
      back: ['escape', 'home'],
    },
    { where: 'among GPUs', from: ['d', 'end'], at: /── CPU/, sees: [/│ ● C_dense_multi_N16_s2/], back: ['home'] },
    {
      where: 'after a command for the best values',
      from: [':', '"value best'],
      at: /│ {3}value best /,
      sees: [/ bits_known best /],
      back: [':', '"value last', 'enter'],
    },
  ],
  back: [
    { where: 'on an open group', from: ['enter'], at: groupIsOpen, sees: [isHome] },
    {
      where: 'on an open run',
      from: secondSeed,
      at: openedSecondSeed,
      sees: [not(/log │ charts/)],
      back: ['home'],
    },
    { where: 'on the compare screen', from: ['c'], at: /── compare · table/, sees: [isHome] },
    { where: 'on the GPU screen', from: ['d'], at: /── GPUs/, sees: [isHome] },
    { where: 'on the sweep screen', from: ['S'], at: /── sweep · abcd/, sees: [isHome] },
    { where: 'in the help', from: ['?'], at: /╭─ keys/, sees: [isHome] },
    { where: 'among sweeps', from: ['O'], at: /╭─ sweep ─/, sees: [isHome] },
    { where: 'in the palette', from: [':', '"kill'], at: /╭─ command/, sees: [isHome] },
    { where: 'in the filter', from: ['/', '"status:failed'], at: /1 of 54 runs/, sees: [isHome] },
    {
      where: 'with a filter',
      from: ['/', '"status:failed', 'enter'],
      at: /filter status:failed/,
      sees: [/Showing all runs/],
      back: ['home'],
    },
    {
      where: 'before a kill',
      from: ['3', 'K'],
      at: /Kill 13 runs of C\?/,
      sees: [/Nothing was killed/],
      back: ['home'],
    },
    { where: 'before new runs', from: ['e'], at: /╭─ extend abcd/, sees: [/Nothing was submitted/] },
    ...['g', 'C', 'v', 'm', 'x'].map((key): Use => ({
      where: `in the dialog of ${key}`,
      from: [key],
      at: /╭─ (group by|columns|views|metric|x axis)/,
      sees: [isHome],
    })),
  ],
  'next-pane': [
    { from: ['enter'], at: /━━ runs/, sees: [/━━ charts/, /━━ runs/], back: ['escape'] },
    {
      where: 'on an open run',
      from: secondSeed,
      at: openedSecondSeed,
      sees: [/━━ charts/, /━━ config/, /━━ attempts/, /━━ samples/, /━━ log/],
      back: ['escape', 'home'],
    },
    {
      where: 'on the compare screen',
      from: ['c'],
      at: /── compare · table/,
      sees: [/── compare · overlay/, /── compare · heatmap/, /── compare · table/],
      back: ['escape'],
    },
  ],
};
