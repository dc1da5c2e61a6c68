import type { Uses } from '../../keys/use.js';

export const uses: Uses = {
  parameters: [{ sees: [/ importance │ parallel │ scatter │ best /], back: ['escape'] }],
  ranks: [
    {
      where: 'among the parameters',
      from: ['M'],
      at: /explained \d+ %/,
      sees: [/Explained is the order of the runs/],
      back: ['escape'],
    },
  ],
};
