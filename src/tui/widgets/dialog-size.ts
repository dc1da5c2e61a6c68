/** Columns of a dialog that are not its content: the frame and a space at each side. */
export const dialogFrame = 4;

/** Columns of the content of a dialog on a screen that is so wide: one that would leave only slivers beside it takes them too. */
export function dialogWidth(wanted: number, screenWidth: number): number {
  return Math.max(0, wanted > screenWidth - 12 ? screenWidth - dialogFrame : wanted);
}
