import type { GroupId, RunId } from '../../base/ids.js';
import { EndedSiblings, type Ending } from '../../analysis/health/ending.js';
import type { Finding } from '../../analysis/health/finding.js';

/** All ended runs of a group are looked at again at each end while they are so few; then when they are more by this share. */
const FEW = 256;
const GROWTH = 1 / 64;

type Group = {
  readonly endings: Map<RunId, Ending>;
  /** Of when `looked` runs were known. */
  siblings: EndedSiblings;
  looked: number;
};

/** The words that runs keep after their ends. Each is compared with the others of its group, which may end later. */
export class LastingMarks {
  readonly #groups = new Map<GroupId, Group>();
  readonly #groupOf = new Map<RunId, GroupId>();
  readonly #marks = new Map<RunId, Finding>();

  /** Null: nothing is wrong with how the run ended, or it is not known. */
  of(id: RunId): Finding | null {
    return this.#marks.get(id) ?? null;
  }

  /** The run has ended so. @returns Other runs of its group that are marked otherwise now. */
  note(id: RunId, groupId: GroupId, ending: Ending): RunId[] {
    const group = this.#groups.get(groupId) ?? { endings: new Map(), siblings: new EndedSiblings([]), looked: 0 };
    if (group.endings.get(id) === ending) return [];
    this.#groups.set(groupId, group);
    this.#groupOf.set(id, groupId);
    group.endings.set(id, ending);
    this.#mark(id, group.siblings.markOf(ending));
    const { size } = group.endings;
    return size > FEW && size <= group.looked * (1 + GROWTH)
      ? []
      : this.#lookAgain(group).filter((each) => each !== id);
  }

  /** The run goes on, or is gone. */
  forget(id: RunId): void {
    const groupId = this.#groupOf.get(id);
    if (groupId === undefined) return;
    this.#groupOf.delete(id);
    this.#marks.delete(id);
    const { endings } = this.#groups.get(groupId)!;
    endings.delete(id);
    if (endings.size === 0) this.#groups.delete(groupId);
  }

  #lookAgain(group: Group): RunId[] {
    group.looked = group.endings.size;
    group.siblings = new EndedSiblings(group.endings.values());
    return [...group.endings].flatMap(([id, ending]) => (this.#mark(id, group.siblings.markOf(ending)) ? [id] : []));
  }

  /** @returns Whether that is another word than before. */
  #mark(id: RunId, mark: Finding | null): boolean {
    const before = this.#marks.get(id);
    if (mark === null) this.#marks.delete(id);
    else this.#marks.set(id, mark);
    return before?.word !== mark?.word || before?.reason !== mark?.reason;
  }
}
