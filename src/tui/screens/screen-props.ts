import type { Size } from '../surface/surface.js';

/** What a screen is told: the room between header and footer, and whether it is a small one (under 80 × 24). */
export type ScreenProps = { readonly size: Size; readonly isSmall: boolean };
