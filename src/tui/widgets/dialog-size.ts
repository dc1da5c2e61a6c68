/** Columns of a dialog besides its content: the frame and a space on each side. */
export const dialogFrame = 4;

/** Columns of a dialog's content. A dialog that would leave only narrow strips beside it fills the screen. */
export function dialogWidth(wanted: number, screenWidth: number): number {
  return Math.max(0, wanted > screenWidth - 12 ? screenWidth - dialogFrame : wanted);
}
