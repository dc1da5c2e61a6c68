import type { ModelShape } from './engine.js';

/** The angles by which RoPE turns the pairs of a head from one position to the next, radians; half as many as a head is wide. */
export function ropeFrequencies({ width, heads, ropeTheta, ropeScaling }: ModelShape): number[] {
  const half = width / heads / 2;
  const plain = Array.from({ length: half }, (_, pair) => Math.pow(ropeTheta, -pair / half));
  if (ropeScaling === undefined) return plain;
  const { factor, lowFrequency, highFrequency, originalContext } = ropeScaling;
  return plain.map((frequency) => {
    const turns = (originalContext * frequency) / (2 * Math.PI);
    const kept = Math.min(1, Math.max(0, (turns - lowFrequency) / (highFrequency - lowFrequency)));
    return (1 - kept) * (frequency / factor) + kept * frequency;
  });
}
