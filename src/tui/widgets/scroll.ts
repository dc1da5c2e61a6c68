/** The first row to show so that `index` is on a page of `page` rows, moving as little as possible from `top`. */
export function scrollTo(index: number, top: number, page: number, count: number): number {
  const low = Math.max(0, index - page + 1);
  const high = Math.max(0, Math.min(index, count - page));
  return Math.max(low, Math.min(top, high));
}
