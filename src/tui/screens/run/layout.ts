import type { Size } from '../../surface/surface.js';

/** The part of the body that an open run fills: all of it on a small screen, otherwise without one column on each side. */
export function runArea({ width, height }: Size, isSmall: boolean): Size {
  return { width: isSmall ? width : width - 2, height };
}
