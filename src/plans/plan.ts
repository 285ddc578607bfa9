/** The names of the plans (interface section 8). An enterprise account has its own limits (contract section 6). */
export const planNames = ['free', 'pro', 'business', 'enterprise'] as const;

/** One of `planNames`. */
export type PlanName = (typeof planNames)[number];

/** Maximum numbers of requests in a minute window and in a day window. Whole numbers of at least 1. */
export interface Limits {
  readonly perMinute: number;
  readonly perDay: number;
}

/** The plan of one account. `openHolds` is present only if an enterprise account has its own maximum. */
export interface Plan {
  readonly name: PlanName;
  readonly limits: Limits;
  readonly openHolds?: number;
}

/** Highest request limit of an enterprise account: far above any traffic, and exact as a JavaScript number. */
export const limitMax = 1_000_000_000_000;

/** Highest number of open holds of an enterprise account. Bounded, because each new order counts them. */
export const openHoldsMax = 1_000_000;

/** The limits of each plan but enterprise. All accounts of a plan share the object. */
export const listedLimits: Readonly<Record<Exclude<PlanName, 'enterprise'>, Limits>> = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
};

/** Maximum number of open holds of an account (contract section 12). An enterprise account may have its own number. */
export const openHoldsOf: Readonly<Record<PlanName, number>> = {
  free: 5,
  pro: 25,
  business: 100,
  enterprise: 100,
};

/** Limits of the Free plan. They also apply to an address without a valid key (contract section 6). */
export const freeLimits = listedLimits.free;

/** Limits of an address for requests to the documentation (contract section 6). */
export const readerLimits: Limits = { perMinute: 600, perDay: 20_000 };

type PlanNumbers = Partial<Record<keyof Limits | 'openHolds', number | bigint | null | undefined>>;

/**
 * Returns a plan with its limits, or a problem if the input is not valid. Enterprise requires both request limits and
 * may have its own number of open holds. Other plans accept no numbers. A number that is null counts as absent.
 */
export function resolvePlan(name: string, custom: PlanNumbers): Plan | { problem: string } {
  const perMinute = toNumber(custom.perMinute);
  const perDay = toNumber(custom.perDay);
  const openHolds = toNumber(custom.openHolds);
  const known = planNames.find((candidate) => candidate === name);
  if (known === undefined) return { problem: `plan must be one of ${planNames.join(', ')}, not "${name}"` };
  if (known !== 'enterprise') {
    if (perMinute !== undefined || perDay !== undefined || openHolds !== undefined)
      return {
        problem: `plan ${known} has fixed limits: only enterprise accepts per-minute, per-day and open-holds`,
      };
    return { name: known, limits: listedLimits[known] };
  }
  if (perMinute === undefined || perDay === undefined)
    return { problem: 'plan enterprise needs both per-minute and per-day' };
  if (!isLimit(perMinute) || !isLimit(perDay))
    return { problem: `per-minute and per-day must be whole numbers from 1 to ${limitMax}` };
  if (openHolds !== undefined && (!isLimit(openHolds) || openHolds > openHoldsMax))
    return { problem: `open-holds must be a whole number from 1 to ${openHoldsMax}` };
  return { name: known, limits: { perMinute, perDay }, ...(openHolds !== undefined && { openHolds }) };
}

function toNumber(given: PlanNumbers[keyof PlanNumbers]): number | undefined {
  return given === null || given === undefined ? undefined : Number(given);
}

function isLimit(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1 && value <= limitMax;
}
