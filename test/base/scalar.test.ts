import { describe, expect, it } from 'vitest';
import { parameterOf } from '../../src/base/scalar.js';

describe('the value of a parameter', () => {
  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'called %s is there only where it was given',
    (name) => {
      expect(parameterOf({ n: 1 }, name)).toBeUndefined();
      expect(parameterOf(Object.fromEntries([[name, 2]]), name)).toBe(2);
    },
  );
});
