import type { Uses } from '../../keys/use.js';

export const uses: Uses = {
  gpus: [{ sees: [/── GPUs/], back: ['escape'] }],
  drain: [{ from: ['d'], at: /── GPU 0/, sees: [/asked: drain 0/, /asked: undrain 0/], back: ['escape'] }],
};
