import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import type { HitKind } from '../../search.ts';
import type { AnswerOf, QueryOf } from './api.ts';
import { readForm } from './fields.ts';
import { AccountLink, isDeleted, PageHead, showLoaded } from './parts.ts';
import { useResource } from './resource.ts';
import { goTo, linkTo } from './routing.ts';
import { type Column, Table } from './table.ts';

const parts = ['search'];

type Result = AnswerOf<'GET /search'>;
type Hit = Result['items'][number];

const titles: Readonly<Record<HitKind, string>> = {
  account: 'Accounts',
  key: 'Keys',
  animal: 'Animals',
  order: 'Orders',
  webhook: 'Webhooks',
  request: 'Failed requests',
};

/** Returns the address of the page that shows a hit, or null if there is none. */
function addressOf({ kind, id, account, state }: Hit): string | null {
  if (kind === 'request') return linkTo(['requests'], { id });
  if (kind !== 'key') return linkTo([`${kind}s`, id]);
  if (account === null || isDeleted(account)) return null;
  // The page of an account does not list revoked keys.
  return state === 'revoked'
    ? linkTo(['audit'], { account, action: 'key.revoked' })
    : linkTo(['accounts', account], { keysFrom: id });
}

/** The field in the header of every page. A whole key is a secret: only its shown start comes into the address. */
export function SearchField({ text }: { readonly text: string | undefined }) {
  function find(event: Event) {
    event.preventDefault();
    const typed = (readForm(event)['text'] ?? '').trim();
    const shown = typed.replace(/^(as_[a-z]+_[0-9A-Za-z]{4})[0-9A-Za-z]+$/, '$1');
    if (shown !== '') goTo(parts, { text: shown });
  }
  return html`<form class="find" onSubmit=${find} role="search" aria-label="Search the store">
    <input
      name="text"
      type="search"
      maxlength="255"
      aria-label="Account, key, animal, order, webhook or request"
      placeholder="Name or id"
      value=${text ?? ''}
      key=${text}
      required
    />
    <button type="submit">Search</button>
  </form>`;
}

/** What a search has found. The only exact hit opens at once, in the place of this page. */
export function Search({ query: { text = '' } }: { readonly query: QueryOf<'GET /search'> }) {
  const found = useResource('GET /search', { text });
  const exact = found.data?.items.filter(({ isExact }) => isExact) ?? [];
  const [only] = exact;
  const target = exact.length === 1 && only !== undefined ? addressOf(only) : null;
  useEffect(() => {
    if (target !== null) location.replace(target);
  }, [target]);
  if (target !== null) return html`<${PageHead} title=${`Search: ${text}`} /><p role="status">Opening…</p>`;
  return html`
    <${PageHead} title=${`Search: ${text}`} />
    ${showLoaded(found, (result) => html`<${Hits} text=${text} result=${result} />`)}
  `;
}

interface HitsProps {
  readonly text: string;
  readonly result: Result;
}

function Hits({ text, result: { items, more } }: HitsProps) {
  if (items.length === 0)
    return html`<p class="empty">
      Nothing is called <strong class="text">${text}</strong>. A search finds accounts, animals and keys by the start of
      their name, keys also by their first characters, and accounts, keys, animals, orders, webhooks and failed requests by
      their whole id. An order by its reference is found on the page <a href=${linkTo(['orders'])}>Orders</a>.
    </p>`;
  const kinds = [...new Set(items.map(({ kind }) => kind))];
  return kinds.map(
    (kind) => html`<section key=${kind} aria-labelledby=${`found-${kind}`}>
      <h2 id=${`found-${kind}`}>${titles[kind]}</h2>
      <${Table}
        caption=${titles[kind]}
        columns=${columnsOf(kind)}
        rows=${items.filter((item) => item.kind === kind)}
        empty=""
        hasCsv=${false}
      />
      ${more.includes(kind) && html`<p class="hint">There are more. Type more of the name.</p>`}
    </section>`,
  );
}

function columnsOf(kind: HitKind): readonly Column<Hit>[] {
  const link: Column<Hit> = {
    title: kind === 'account' ? 'Account' : 'Id',
    cell: (hit) => {
      const address = addressOf(hit);
      const text = html`<span class="text">${hit.id}</span>`;
      return address === null ? text : html`<a href=${address}>${text}</a>`;
    },
  };
  const label: Column<Hit> = {
    title: { order: 'Reference', webhook: 'URL', request: 'Operation' }[kind as string] ?? 'Name',
    cell: (hit) => html`<span class="text">${hit.label ?? '–'}</span>`,
  };
  const account: Column<Hit> = {
    title: 'Account',
    cell: (hit) => html`<${AccountLink} account=${hit.account} />`,
  };
  const state: Column<Hit> = { title: 'State', cell: (hit) => hit.state };
  if (kind === 'account') return [link, state];
  return [link, label, ...(kind === 'animal' ? [] : [account]), state];
}
