import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { readState } from '../../../accounts/key-state.ts';
import type { OrderStatus } from '../../../orders/order.ts';
import type { PetStatus } from '../../../pets/pet.ts';
import type { WebhookStatus } from '../../../webhooks/webhook.ts';
import { ApiFailure } from './api.ts';
import type { Now, Resource } from './resource.ts';
import { linkTo, type Query } from './routing.ts';
import { useSession } from './session.ts';

interface PageHeadProps {
  readonly title: string;
  readonly children?: ComponentChildren;
}

/** The heading of a page, which is also its title in the browser. `children` are its buttons. */
export function PageHead({ title, children }: PageHeadProps) {
  const { environment } = useSession();
  useEffect(() => {
    document.title = `${title} · Animal Store ${environment}`;
  }, [title, environment]);
  return html`<div class="page-head">
    <h1 tabindex="-1">${title}</h1>
    <div class="acts">${children}</div>
  </div>`;
}

interface FailureProps {
  readonly failure: Error;
  readonly onRetry?: () => void;
}

/** An error message. With `onRetry`, it has a button to retry. */
export function Failure({ failure, onRetry }: FailureProps) {
  return html`<div class="failure" role="alert">
    <p>${failure.message}</p>
    ${onRetry && html`<button type="button" onClick=${onRetry}>Try again</button>`}
  </div>`;
}

/**
 * Shows the state of a resource: "Loading…", its failure, and the result of `show(data, now)` once there is data. It is
 * a function and not a component, because the compiler does not look into a template, but infers what `show` gets.
 */
export function showLoaded<Data>(
  { data, failure, reload, now }: Resource<Data>,
  show: (data: Data, now: Now) => ComponentChildren,
) {
  const isLoading = data === null && failure === null;
  const isRefused = failure instanceof ApiFailure && failure.code === 'role_missing';
  return html`
    ${failure && html`<${Failure} failure=${failure} onRetry=${isRefused ? undefined : reload} />`}
    ${isLoading && html`<p class="quiet" role="status">Loading…</p>`}
    ${data !== null && show(data, now)}
  `;
}

/** The things that have a page each: how the page of one that is not there says so. */
const things = {
  account: {
    parts: ['accounts'],
    tell: (id: string) => `There is no account “${id}”. It may have another name now, or it is deleted.`,
  },
  animal: {
    parts: ['animals'],
    tell: (id: string) =>
      `There is no animal with the number ${id}. It may be deleted: a number is never used again.`,
  },
  order: {
    parts: ['orders'],
    tell: (id: string) =>
      `There is no order with the number ${id}. Orders are never deleted, so check the number.`,
  },
  webhook: {
    parts: ['webhooks'],
    tell: (id: string) => `There is no webhook ${id}. Its account may have deleted it.`,
  },
} as const;

/** Like `showLoaded`, for the page of one thing. The page has a heading also before it is loaded, and if it is missing. */
export function showOne<Data>(
  thing: keyof typeof things,
  id: string,
  resource: Resource<Data>,
  show: (data: Data, now: Now) => ComponentChildren,
) {
  const { data, failure } = resource;
  const isMissing = failure instanceof ApiFailure && ['not_found', 'not_done'].includes(failure.code);
  if (data !== null) return showLoaded(resource, show);
  if (!isMissing)
    return html`<${PageHead} title=${thing.replace(/^./, (letter) => letter.toUpperCase())} /> ${showLoaded(resource, show)}`;
  const { parts, tell } = things[thing];
  return html`<${PageHead} title=${`No such ${thing}`} />
    <p class="empty text">${tell(id)}</p>
    <p><a href=${linkTo(parts)}>All ${thing}s</a></p>`;
}

interface PagerProps {
  readonly parts: readonly string[];
  readonly query: Query;
  readonly next: string | null;
}

/**
 * Links to the next page, the previous one and the first. The query parameter `back` has the starts of the earlier pages,
 * because the API can only go on.
 */
export function Pager({ parts, query, next }: PagerProps) {
  const { before, back = '', ...filters } = query;
  if (next === null && before === undefined) return null;
  const starts = back.split('~').filter((start) => start !== '');
  const earlier = before === undefined ? [] : [...starts, before];
  const to = (start: string | undefined, earlierStarts: readonly string[]) =>
    linkTo(parts, { ...filters, before: start, back: earlierStarts.join('~') });
  return html`<nav class="pager" aria-label="Pages">
    ${before !== undefined && html`<a href=${to(undefined, [])}>First page</a>`}
    ${before !== undefined && html`<a rel="prev" href=${to(starts.at(-1), starts.slice(0, -1))}>Previous page</a>`}
    ${next !== null && html`<a rel="next" href=${to(next, earlier)}>Next page</a>`}
  </nav>`;
}

/** A link to an order. */
export function OrderLink({ id }: { readonly id: string }) {
  return html`<a href=${linkTo(['orders', id])}>${id}</a>`;
}

/** A link to an account. A deleted account has no page. */
export function AccountLink({ account }: { readonly account: string | null | undefined }) {
  if (account === null || account === undefined) return '–';
  if (isDeleted(account)) return html`<span class="quiet">${account}</span>`;
  return html`<a class="text" href=${linkTo(['accounts', account])}>${account}</a>`;
}

interface KeyLinkProps {
  readonly id: string | null;
  readonly account: string | null | undefined;
}

/** A link to a key among those of its account. The page of an account does not list a revoked key. */
export function KeyLink({ id, account }: KeyLinkProps) {
  if (id === null) return '–';
  if (account === null || account === undefined || isDeleted(account)) return html`<code>${id}</code>`;
  return html`<a href=${linkTo(['accounts', account], { keysFrom: id })}><code>${id}</code></a>`;
}

/** True for the name of a deleted account. No other account may have such a name. */
export function isDeleted(account: string): boolean {
  return /^deleted-\d+$/.test(account);
}

type BadgeKind = 'good' | 'warn' | 'bad' | '';

interface BadgeProps {
  readonly kind?: BadgeKind;
  readonly children?: ComponentChildren;
}

/** A word in a colour. */
export function Badge({ kind = '', children }: BadgeProps) {
  return html`<span class=${`badge ${kind}`}>${children}</span>`;
}

type StateWord = PetStatus | OrderStatus | WebhookStatus | ReturnType<typeof readState>;

const kinds: Readonly<Record<StateWord, BadgeKind>> = {
  available: 'good',
  pending: 'warn',
  sold: '',
  reserved: 'warn',
  completed: 'good',
  cancelled: '',
  expired: '',
  returned: '',
  active: 'good',
  rotated: '',
  revoked: '',
  enabled: 'good',
  disabled: 'bad',
};

/** The status of an animal, an order or a webhook, or the state of a key. */
export function State({ state }: { readonly state: StateWord }) {
  return html`<${Badge} kind=${kinds[state]}>${state}<//>`;
}

/** `isWide`: the value gets a line of its own. */
export type Fact = readonly [name: string, value: ComponentChildren, isWide?: boolean];

interface FactsProps {
  readonly facts: readonly Fact[];
  /** True: a line for each fact, as for long texts. */
  readonly isList?: boolean;
}

/** A list of names and values. */
export function Facts({ facts, isList = false }: FactsProps) {
  return html`<dl class=${isList ? 'facts list' : 'facts'}>
    ${facts.map(([name, value, isWide]) => html`<div key=${name} class=${isWide && 'wide'}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}
