import type { SiblingPauses } from '../../analysis/health/silence.js';
import type { PaceSiblings } from '../../analysis/health/pace.js';
import type { Levels } from '../../analysis/health/divergence.js';
import type { ObservedRun } from './observed-run.js';

/** Number of runs that one is compared with: a sample tells as much as a thousand. */
const COMPARED = 32;

/** The live runs of one group and its last done ones, with which each is compared. Created anew for each look. */
export class Siblings {
  readonly #members: readonly ObservedRun[];
  readonly #bySetting = new Map<string, ObservedRun[]>();
  /** The two longest pauses of all runs, as one of them may be the run's own. */
  #longest: { of: ObservedRun | null; ms: number }[] = [];
  #writers = 0;

  constructor(members: readonly ObservedRun[]) {
    this.#members = members;
    for (const member of members) {
      const alike = this.#bySetting.get(member.setting);
      if (alike === undefined) this.#bySetting.set(member.setting, [member]);
      else alike.push(member);
      const { rhythm } = member;
      if (rhythm === null || rhythm.pauses === 0) continue;
      this.#writers += 1;
      this.#longest.push({ of: member, ms: rhythm.longest });
      this.#longest = this.#longest.sort((a, b) => b.ms - a.ms).slice(0, 2);
    }
  }

  pausesOf(own: ObservedRun): SiblingPauses {
    const isWriter = (own.rhythm?.pauses ?? 0) > 0;
    const longest = this.#longest.find((each) => each.of !== own)?.ms ?? 0;
    return { longest, count: this.#writers - (isWriter ? 1 : 0) };
  }

  pacesOf(own: ObservedRun): PaceSiblings {
    const pacesOf = (members: readonly ObservedRun[]) => sampled(members, own).map(({ pace }) => pace);
    return { like: pacesOf(this.#bySetting.get(own.setting) ?? []), all: () => pacesOf(this.#members) };
  }

  /** Levels of the same metric in the siblings. */
  levelsOf(own: ObservedRun): Levels[] {
    return sampled(this.#members, own).flatMap(({ judged }) =>
      judged?.name === own.judged?.name && judged?.levels ? [judged.levels] : [],
    );
  }
}

/** The other runs, or an evenly spaced sample of them. */
function sampled(members: readonly ObservedRun[], own: ObservedRun): ObservedRun[] {
  const stride = Math.max(1, members.length / COMPARED);
  const some: ObservedRun[] = [];
  for (let at = 0; at < members.length; at += stride) {
    const member = members[Math.floor(at)]!;
    if (member !== own) some.push(member);
  }
  return some;
}
