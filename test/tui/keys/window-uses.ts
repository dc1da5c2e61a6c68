import { isHome, type Uses } from './use.js';

/** The column of the rule between the list and what is beside it. */
const ruleIn = (screen: string): number => screen.split('\n')[8]!.indexOf(' │ ');

export const windowUses: Uses = {
  show: [{ sees: [/╭─ sweep ─/], back: ['escape'] }],
  help: [{ sees: [/╭─ keys/], back: ['escape'] }],
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
  // The person's own screen, on which nothing of the window was drawn, with the prompt below: until then the window takes what is
  // typed. (Keys typed before the window listened again may be drawn.)
  leave: [
    {
      sees: [(screen) => /left: detached *\norders: .*\n\$/.test(screen) && !screen.includes('metric test/bits_known')],
      back: ['"$WINDOW\r'],
    },
  ],
};
