/** Keys of the screen of GPUs, for the footer. */
export const gpuKeys: readonly (readonly [key: string, does: string])[] = [
  ['↑↓', 'choose'],
  ['Enter', 'its first run'],
  ['D', 'drain'],
  ['+', 'slot more'],
  ['-', 'slot fewer'],
  ['Esc', 'back'],
  ['?', 'help'],
  ['q', 'detach'],
];
