import {
  costOf,
  joinedLease,
  LimitStore,
  NO_TOKENS,
  type Admission,
  type Lease,
  type Limit,
  type LimitStates,
  type TokenDemand,
} from './limit-store.js';

/** Limits that are counted in one place: those of an account, or those of a scope of a plugin. */
export interface LimitGroup {
  /** The id of the account, or the name of the scope. */
  readonly accountId: string;
  readonly limits: readonly Limit[];
}

/** A group that has admitted a request. */
interface CountedGroup extends LimitGroup {
  readonly lease: Lease;
  readonly state: LimitStates;
  readonly countedAt: number;
}

/** Requests that are given back in a minute are counted under this name. */
const GIVEN_BACK = 'given-back';
/** A request is not given back this long before its window ends: the reply of the store took time, and the next command takes time. */
const SLACK_MS = 2_500;

/** The admission of a request by one or several groups. */
export type JointAdmission = Admission & {
  /**
   * Gives the tokens and the counted requests back, because the request was refused before any work was done for it. In a minute, a group
   * gives back at most as many requests as its smallest limit of them has: a caller cannot send refused requests without an end.
   *
   * @returns the states of the limits afterwards. Empty: nothing was given back.
   */
  giveBack(): Promise<LimitStates>;
};

/**
 * Admits a request to all groups, one after the other. If one refuses it, or does not answer, the others give it back. The account comes
 * first, so that a caller who is refused by the limits of the account uses nothing of what others share.
 */
export async function admitToAll(
  store: LimitStore,
  groups: readonly LimitGroup[],
  tokens: TokenDemand,
): Promise<JointAdmission> {
  const counted: CountedGroup[] = [];
  const giveBack = async (isBounded = true): Promise<LimitStates> => {
    let states: LimitStates = {};
    for (const group of counted) {
      group.lease.settle(0);
      if (!isBounded) group.lease.release();
      states = { ...states, ...(await giveBackTo(store, group, isBounded)) };
    }
    return states;
  };
  let state: LimitStates = {};
  let granted: number | undefined;
  for (const { accountId, limits } of groups) {
    const demand = granted === undefined ? tokens : { ...tokens, atMost: granted };
    let admission: Admission;
    try {
      admission = await store.admit({ accountId, limits, tokens: demand });
    } catch (error) {
      await giveBack(false);
      throw error;
    }
    state = groups.length === 1 ? admission.state : { ...state, ...admission.state };
    if (!admission.admitted) return { ...admission, state: { ...state, ...(await giveBack(false)) }, giveBack };
    const { lease } = admission;
    granted = lease.tokens ?? granted;
    counted.push({ accountId, limits, lease, state: admission.state, countedAt: performance.now() });
  }
  const leases = counted.map(({ lease }) => lease);
  const [only] = leases;
  const lease = leases.length === 1 && only !== undefined ? only : joinedLease(granted, leases);
  return { admitted: true, lease, state, giveBack };
}

/** Counts the request with a negative cost in the windows that still run. */
async function giveBackTo(
  store: LimitStore,
  { accountId, limits, state, countedAt }: CountedGroup,
  isBounded: boolean,
): Promise<LimitStates> {
  const elapsedMs = performance.now() - countedAt;
  const given = limits.flatMap((limit): Limit[] => {
    // Their tokens are free again, so that the states show them.
    if (limit.unit === 'tokens') return [limit];
    const { resetMs, resetSeconds = 0 } = state[limit.name] ?? {};
    const isCurrent = elapsedMs + SLACK_MS < (resetMs ?? (resetSeconds - 1) * 1_000);
    return limit.unit === 'requests' && isCurrent ? [{ ...limit, cost: -costOf(limit) }] : [];
  });
  const requests = given.filter(({ unit }) => unit === 'requests');
  if (requests.length === 0) return {};
  const max = Math.min(...requests.map((limit) => limit.max));
  const bound: Limit = { name: GIVEN_BACK, unit: 'requests', window: 'minute', max };
  const admission = await store.admit({ accountId, limits: isBounded ? [bound, ...given] : given, tokens: NO_TOKENS });
  if (!admission.admitted) return {};
  admission.lease.settle(0);
  admission.lease.release();
  return Object.fromEntries(Object.entries(admission.state).filter(([name]) => name !== GIVEN_BACK));
}
