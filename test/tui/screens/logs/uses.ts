import type { Uses } from '../../keys/use.js';

export const uses: Uses = {
  logs: [{ sees: [/^━━ ✓ A_bsweep[^]*── ✓ A_bsweep/m], back: ['escape'] }],
};
