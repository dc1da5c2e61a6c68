import type { CompareCommand, LogCommand, ScreenCommand, WindowCommand } from '../../../src/tui/state/command.js';
import { isHome, type Use } from './use.js';

const failed = ['2', ...Array<string>(8).fill('down')];
const searched = {
  from: ['down', 'down', 'enter', '/', 'ctrl-u', '"step [678]00 ', 'enter'],
  at: /▸ step 600 /,
  back: ['escape', 'home'],
};

export const logUses: Record<LogCommand, readonly Use[]> = {
  'search-next': [{ ...searched, sees: [/▸ step 700 /, /▸ step 800 /] }],
  'search-previous': [
    { ...searched, sees: [/▸ step 800 [^]*No more matches above; continuing from the end/, /▸ step 700 /] },
  ],
  'first-error': [
    {
      ...{ from: failed, at: /│ ✗ B_nsweep_single_B8_N64_s2/ },
      sees: [/━━ log[^]*▸ Traceback/],
      back: ['escape', 'home'],
    },
  ],
  wrap: [
    {
      ...{ from: ['down', 'down', 'enter'], at: /log │ charts/ },
      sees: [/Long lines are cut/, /Long lines are wrapped/],
      back: ['escape', 'home'],
    },
  ],
};

export const compareUses: Record<CompareCommand, readonly Use[]> = {
  compare: [
    { sees: [/── compare · table/], back: ['escape'] },
    {
      where: 'on the compare screen',
      from: ['c'],
      at: /· last · \S pins a baseline/,
      sees: [/· best · \S pins/, /· mean of last 10 · \S pins/, /· auc · \S pins/, /· last · \S pins/],
      back: ['escape'],
    },
  ],
  baseline: [
    { sees: [/Baseline: A; c compares with it/, /No baseline/] },
    {
      where: 'on the compare screen',
      from: ['c'],
      at: /· last · \S pins a baseline/,
      sees: [/Baseline: binary; b again unpins it/, /No baseline/],
      back: ['escape'],
    },
  ],
};

export const screenUses: Record<ScreenCommand, readonly Use[]> = {
  gpus: [{ sees: [/── GPUs/], back: ['escape'] }],
  logs: [{ sees: [/^━━ ✓ A_bsweep[^]*── ✓ A_bsweep/m], back: ['escape'] }],
  sweep: [{ sees: [/── sweep · abcd[^]*A_B8 +0\.0121/], back: ['escape'] }],
  parameters: [{ sees: [/ importance │ parallel │ scatter │ best /], back: ['escape'] }],
  show: [{ sees: [/╭─ sweep ─/], back: ['escape'] }],
  help: [{ sees: [/╭─ keys/], back: ['escape'] }],
};

/** The column of the rule between the list and what is beside it. */
const ruleIn = (screen: string): number => screen.split('\n')[8]!.indexOf(' │ ');

export const windowUses: Record<WindowCommand, readonly Use[]> = {
  'pane-smaller': [{ sees: [(screen, home) => ruleIn(screen) === ruleIn(home) - 2], back: ['>'] }],
  'pane-larger': [
    { sees: [(screen, home) => ruleIn(screen) === ruleIn(home) + 2], back: ['<'] },
    { where: 'in an open group', from: ['enter'], at: /━ 1 below/, sees: [/━ 2 below/], back: ['<', 'escape'] },
  ],
  repaint: [{ spoiledBy: '\u001b[5;10Hwritten by another program', at: /written by another program/, sees: [isHome] }],
  suspend: [
    { sees: [/Stopped/], back: ['"fg\r'] },
    { where: 'after a refusal', from: ['home'], at: /This is the first row/, sees: [/Stopped/], back: ['"fg\r'] },
  ],
  // The person's own screen, on which nothing of the window was drawn. (Keys typed before the window listened again may be.)
  leave: [
    {
      sees: [(screen) => /left: detached *$/m.test(screen) && !screen.includes('metric test/bits_known')],
      back: ['"$WINDOW\r'],
    },
  ],
};
