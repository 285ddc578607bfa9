import { dayMs, hourMs, minuteMs } from '../../src/clock.ts';
import type { Usage } from '../../src/limits/rules/decision.ts';
import type { Limits } from '../../src/plans/plan.ts';

/** A simple and slow model of the limits: the requests that were counted and refused, and the bans, oldest first. */
export interface Model {
  readonly countedAtMs: Map<string, number[]>;
  readonly refusedAtMs: Map<string, number[]>;
  readonly bans: Map<string, { beganAtMs: number; lengthMs: number }[]>;
}

export interface ModelRequest {
  readonly subject: string;
  readonly limits: Limits;
  readonly keyId: string | null;
}

export function createModel(): Model {
  return { countedAtMs: new Map(), refusedAtMs: new Map(), bans: new Map() };
}

export function foresee(model: Model, { subject, limits, keyId }: ModelRequest, atMs: number) {
  const ban = model.bans.get(keyId ?? '')?.at(-1);
  if (ban !== undefined && atMs < ban.beganAtMs + ban.lengthMs) return 'banned';
  const minute = findWindow(model.countedAtMs.get(subject), minuteMs, atMs);
  const day = findWindow(model.countedAtMs.get(subject), dayMs, atMs);
  return minute.used < limits.perMinute && day.used < limits.perDay ? 'passed' : 'refused';
}

export function takeFromModel(model: Model, request: ModelRequest, nowMs: number): Usage {
  const { subject, limits, keyId } = request;
  const verdict = foresee(model, request, nowMs);
  if (verdict === 'passed') listOf(model.countedAtMs, subject).push(nowMs);
  if (verdict === 'refused' && keyId !== null) strike(model, keyId, limits, nowMs);
  const ban = model.bans.get(keyId ?? '')?.at(-1);
  const banEndsAtMs = ban === undefined ? 0 : ban.beganAtMs + ban.lengthMs;
  const times = model.countedAtMs.get(subject);
  return {
    verdict,
    atMs: nowMs,
    minute: findWindow(times, minuteMs, nowMs),
    day: findWindow(times, dayMs, nowMs),
    bannedUntilMs: banEndsAtMs > nowMs ? banEndsAtMs : 0,
  };
}

function strike(model: Model, keyId: string, limits: Limits, nowMs: number): void {
  const refusedAtMs = listOf(model.refusedAtMs, keyId);
  refusedAtMs.push(nowMs);
  if (findWindow(refusedAtMs, minuteMs, nowMs).used < Math.max(60, limits.perMinute)) return;
  refusedAtMs.length = 0;
  const bans = listOf(model.bans, keyId);
  const last = bans.at(-1);
  const isRepeated = last !== undefined && nowMs - last.beganAtMs < dayMs;
  bans.push({ beganAtMs: nowMs, lengthMs: isRepeated ? Math.min(2 * last.lengthMs, hourMs) : minuteMs });
}

/** Finds the window that is open. Each request outside a window opens the next one. */
function findWindow(times: readonly number[] = [], lengthMs: number, nowMs: number) {
  let openedAtMs = Number.NEGATIVE_INFINITY;
  let used = 0;
  for (const atMs of times) {
    if (atMs - openedAtMs >= lengthMs) {
      openedAtMs = atMs;
      used = 0;
    }
    used += 1;
  }
  const endsAtMs = openedAtMs + lengthMs;
  return nowMs < endsAtMs ? { used, endsAtMs } : { used: 0, endsAtMs: 0 };
}

function listOf<T>(lists: Map<string, T[]>, name: string): T[] {
  const list = lists.get(name) ?? [];
  lists.set(name, list);
  return list;
}
