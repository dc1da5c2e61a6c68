import type { Size } from '../../surface/surface.js';

/** The part of the body that an open run fills: on a small screen all of it, else with a column of room at each side. */
export function runArea({ width, height }: Size, isSmall: boolean): Size {
  return { width: isSmall ? width : width - 2, height };
}
