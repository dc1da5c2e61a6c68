/** Keys of the screen of GPUs, for the footer. */
export const gpuKeys: readonly (readonly [key: string, does: string])[] = [
  ['↑↓', 'choose'],
  ['Enter', 'first run'],
  ['D', 'drain'],
  ['+ -', 'slots'],
  ['Esc', 'back'],
  ['?', 'help'],
  ['q', 'detach'],
];
