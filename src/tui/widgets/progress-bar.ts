import { type Line, span, type Tone } from '../surface/span.js';

/** A thin bar of `width` columns. `fraction`: 0 to 1; null draws an empty bar. */
export function progressBar(fraction: number | null, width: number, tone: Tone): Line {
  const halves = Math.round(Math.min(1, Math.max(0, fraction ?? 0)) * width * 2);
  const full = Math.floor(halves / 2);
  const tip = halves % 2 === 1 ? '╸' : '';
  return [span('━'.repeat(full) + tip, tone), span('─'.repeat(Math.max(0, width - full - tip.length)), 'faint')];
}
