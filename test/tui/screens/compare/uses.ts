import type { Uses } from '../../keys/use.js';

export const uses: Uses = {
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
