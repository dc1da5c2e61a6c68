import { describe, expect, it } from 'vitest';
import { fnv1a64 } from '../../../src/spec/expand/identity.js';

/** The definition, with bigints: slow and plainly right. */
function defined(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text, 'utf16le'))
    hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  return hash.toString(16).padStart(16, '0');
}

describe('the hash of an identity', () => {
  it.each(['', 'a', 'foobar', '["A",[["N",1024]]]', 'é😀', 'x'.repeat(1000)])('is FNV-1a of 64 bits: %j', (text) => {
    expect(fnv1a64(text)).toBe(defined(text));
  });
});
