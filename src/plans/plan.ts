/** Interface section 8. Enterprise has no numbers of its own: an account on it names both (contract section 6). */
export const planNames = ['free', 'pro', 'business', 'enterprise'] as const;

/** One of `planNames`. */
export type PlanName = (typeof planNames)[number];

/** How many requests pass in a minute window and in a day window; whole numbers, at least 1. */
export interface Limits {
  readonly perMinute: number;
  readonly perDay: number;
}

/** A plan with the numbers that hold for one account on it. */
export interface Plan {
  readonly name: PlanName;
  readonly limits: Limits;
  /** How many holds may be open at once, where an enterprise account names a number of its own. */
  readonly openHolds?: number;
}

/** The numbers that an enterprise account names. */
export interface CustomNumbers extends Limits {
  readonly openHolds: number;
}

/** The most that an enterprise account may name: far above any traffic, far below where numbers lose digits. */
export const limitMax = 1_000_000_000_000;

/** The most open holds that an enterprise account may name: they are counted at each of its orders. */
export const openHoldsMax = 1_000_000;

const listedLimits: Record<Exclude<PlanName, 'enterprise'>, Limits> = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
};

/** How many holds an account has open at once (contract section 12); an account on Enterprise may name another number. */
export const openHoldsOf: Readonly<Record<PlanName, number>> = {
  free: 5,
  pro: 25,
  business: 100,
  enterprise: 100,
};

/** The numbers of Free, which also hold for an address without a valid key (contract section 6). */
export const freeLimits = listedLimits.free;

/** The numbers that hold for an address that reads the documentation (contract section 6). */
export const readerLimits: Limits = { perMinute: 600, perDay: 20_000 };

/**
 * The plan of that name with its numbers, or the reason why there is none: enterprise needs both limits and may name
 * its open holds, the others take none.
 */
export function resolvePlan(name: string, custom: Partial<CustomNumbers>): Plan | { problem: string } {
  const known = planNames.find((candidate) => candidate === name);
  if (known === undefined) return { problem: `plan must be one of ${planNames.join(', ')}, not "${name}"` };
  if (known !== 'enterprise') {
    if (Object.values(custom).some((number) => number !== undefined))
      return {
        problem: `plan ${known} has its own numbers: per-minute, per-day and open-holds belong to enterprise`,
      };
    return { name: known, limits: listedLimits[known] };
  }
  const { perMinute, perDay, openHolds } = custom;
  if (perMinute === undefined || perDay === undefined)
    return { problem: 'plan enterprise needs both per-minute and per-day' };
  if (!isLimit(perMinute) || !isLimit(perDay))
    return { problem: `per-minute and per-day must be whole numbers from 1 to ${limitMax}` };
  if (openHolds === undefined) return { name: known, limits: { perMinute, perDay } };
  if (!isLimit(openHolds) || openHolds > openHoldsMax)
    return { problem: `open-holds must be a whole number from 1 to ${openHoldsMax}` };
  return { name: known, limits: { perMinute, perDay }, openHolds };
}

function isLimit(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1 && value <= limitMax;
}
