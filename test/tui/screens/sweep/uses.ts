import type { Uses } from '../../keys/use.js';

export const uses: Uses = {
  sweep: [{ sees: [/── sweep · abcd[^]*A_B8 +0\.0121/], back: ['escape'] }],
};
