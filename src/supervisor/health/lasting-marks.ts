import type { GroupId, RunId } from '../../base/ids.js';
import { EndedSiblings, type Ending } from '../../analysis/health/ending.js';
import type { Finding } from '../../analysis/health/finding.js';

/** Up to so many ended runs of a group are all judged again at each end; beyond, only when their number has grown by this share. */
const FEW = 256;
const GROWTH = 1 / 64;

type Group = {
  readonly endings: Map<RunId, Ending>;
  /** The endings when `looked` runs were known. */
  siblings: EndedSiblings;
  looked: number;
};

/** The marks that runs keep after their end. Each run is compared with others of its group, which may end later. */
export class LastingMarks {
  readonly #groups = new Map<GroupId, Group>();
  readonly #groupOf = new Map<RunId, GroupId>();
  readonly #marks = new Map<RunId, Finding>();

  /** The mark of a run; null: it ended well, or that is unknown. */
  of(id: RunId): Finding | null {
    return this.#marks.get(id) ?? null;
  }

  /** Adds an ended run. @returns Other runs of its group whose mark has changed. */
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

  /** Forgets a run that starts again, or was removed. */
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

  /** Sets a mark. @returns Whether it has changed. */
  #mark(id: RunId, mark: Finding | null): boolean {
    const before = this.#marks.get(id);
    if (mark === null) this.#marks.delete(id);
    else this.#marks.set(id, mark);
    return before?.word !== mark?.word || before?.reason !== mark?.reason;
  }
}
