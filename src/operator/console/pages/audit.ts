import { html } from 'htm/preact';
import type { AnswerOf, QueryOf } from './api.ts';
import { Choice, Filters, TextFilter } from './fields.ts';
import { formatTime } from './format.ts';
import { isDeleted, PageHead, Pager, showLoaded } from './parts.ts';
import { useResource } from './resource.ts';
import { linkTo } from './routing.ts';
import { useDeclared } from './session.ts';
import { type Column, describeEmpty, Table } from './table.ts';

const parts = ['audit'];

type Entry = AnswerOf<'GET /audit'>['items'][number];

const columns: readonly Column<Entry>[] = [
  { title: 'When', isTime: true, by: 'atMs', cell: ({ atMs }) => formatTime(atMs) },
  {
    title: 'What',
    by: 'action',
    cell: ({ action }) => html`<strong>${action}</strong>`,
  },
  { title: 'Of', by: 'subject', cell: (entry) => html`<${Subject} ...${entry} />` },
  { title: 'Who', by: 'actor', cell: (entry) => html`<${Actor} ...${entry} />` },
  { title: 'Change', isWide: true, cell: (entry) => html`<${Change} ...${entry} />` },
];

/** The name of a console actor also has the session. The link finds all that its user did. */
function Actor({ actorKind, actor }: Entry) {
  const [person] = actor.split(/ in | as /);
  return html`<span class="quiet">${actorKind}</span>
    ${' '}<a class="text" href=${linkTo(parts, { actor: person })}>${actor}</a>`;
}

/** The values before and after a change, each on a line of its own. */
function Change({ before, after }: Entry) {
  if (before === null && after === null) return '–';
  return html`${before !== null && html`<${Values} name="before" json=${before} />`}
    ${after !== null && html`<${Values} name="after" json=${after} />`}`;
}

interface ValuesProps {
  readonly name: string;
  readonly json: string;
}

/** A line may break between the members of the JSON. */
function Values({ name, json }: ValuesProps) {
  const members = json.split(/(?<=,)/).map((member) => html`${member}<wbr />`);
  return html`<div><span class="quiet">${name}</span> <code class="text">${members}</code></div>`;
}

/** What was changed. An animal, an order, a webhook and an account have a page to link to. */
function Subject(entry: Entry) {
  const place = findPlace(entry);
  const text = html`<span class="text">${entry.subject}</span>`;
  return place === null ? text : html`<a href=${linkTo(place)}>${text}</a>`;
}

function findPlace({ action, subject, account }: Entry): readonly string[] | null {
  if (action.startsWith('pet.')) return ['animals', subject];
  if (action.startsWith('order.')) return ['orders', subject];
  if (action.startsWith('webhook.') && subject.startsWith('wh_')) return ['webhooks', subject];
  if (account === null || isDeleted(account)) return null;
  return ['accounts', account];
}

const none = 'Nobody has changed anything yet. Here is each change of an operator, a command or a key.';

export function Audit({ query }: { readonly query: QueryOf<'GET /audit'> }) {
  const entries = useResource('GET /audit', query);
  const { auditActions } = useDeclared();
  return html`
    <${PageHead} title="Audit log" />
    <${Filters} parts=${parts} query=${query} label="Filter the audit log">
      <${TextFilter} name="account" label="Account" query=${query} />
      <${Choice} id="action" label="What" name="action" value=${query.action} choices=${auditActions} all="all" />
      <${TextFilter} name="subject" label="Of" query=${query} />
      <${TextFilter} name="actor" label="Who" query=${query} />
      <${TextFilter} name="since" label="From" query=${query} placeholder="2027-01-02 12:00" size="18" />
      <${TextFilter} name="until" label="Before" query=${query} placeholder="2027-01-03" size="18" />
    <//>
    ${showLoaded(
      entries,
      ({ items, next }) => html`
        <${Table} caption="Audit log" columns=${columns} rows=${items} empty=${describeEmpty(parts, query, 'entries', none)} />
        <${Pager} parts=${parts} query=${query} next=${next} />
      `,
    )}
  `;
}
