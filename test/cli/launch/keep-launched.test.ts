import { existsSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { keepLaunched } from '../../../src/cli/launch/submit.js';

it.runIf(existsSync('/dev/full'))(
  'a launch whose text the full disk does not take is said to be submitted all the same',
  () => {
    expect(keepLaunched('/runs/lr', () => writeFileSync('/dev/full', 'name: lr'))).toBe(
      'The runs are submitted, but the text of the sweep could not be kept in /runs/lr: the disk is full. ' +
        'Launch the file again when that is fixed; nothing is started twice.',
    );
    expect(keepLaunched('/runs/lr', () => undefined)).toBeNull();
    const mistake = () => {
      throw new TypeError('no text');
    };
    expect(() => keepLaunched('/runs/lr', mistake)).toThrow('no text');
  },
);
