import { formatQuery } from './api.js';
import { countThings, formatNumber } from './format.js';
import { html } from './html.js';
import { Choice, Field, Loaded, PageHead, Pager, readForm, State, Table } from './parts.js';
import { useResource } from './resource.js';
import { goTo, linkTo } from './routing.js';

const petStatuses = ['available', 'pending', 'sold'];
const parts = ['animals'];

const columns = [
  { title: 'Number', isNumber: true, cell: ({ id }) => html`<a href=${linkTo(['animals', id])}>${id}</a>` },
  { title: 'Name', cell: ({ name }) => html`<span class="text">${name}</span>` },
  { title: 'Category', cell: (pet) => html`<${Category} ...${pet} />` },
  { title: 'Status', cell: ({ status }) => html`<${State} state=${status} />` },
];

/** Shows the number of a category as a link to its animals, and the name of the category if it has one. */
export function Category({ categoryId, category }) {
  return html`<a href=${linkTo(parts, { categoryId })}>${categoryId}</a>
    ${category !== null && html`${' '}<span class="text">${category}</span>`}`;
}

export function Animals({ query }) {
  const animals = useResource(`/pets${formatQuery(query)}`);
  return html`<${PageHead} title="Animals">
      <a class="button" href=${linkTo(['categories'])}>Category names</a>
    <//>
    <${Filters} key=${formatQuery(query)} query=${query} />
    <${Loaded} resource=${animals}>
      ${({ items, next, searched }) =>
        html`${searched !== null && html`<${Searched} items=${items} next=${next} searched=${searched} query=${query} />`}
          <${Table} caption="Animals" columns=${columns} rows=${items} empty="No animal on this page matches." />
          <${Pager} parts=${parts} query=${query} next=${next} nextLabel=${searched === null ? 'Next page' : 'Search on'} />`}
    <//>`;
}

function Searched({ items, next, searched, query }) {
  const found = `${countThings(items.length, 'animal')} found. Searched ${query.before === undefined ? 'the newest' : 'the next'} ${formatNumber(searched)} animals with the chosen status and category.`;
  return html`<p role="status">
    ${found} ${next === null ? 'The search is complete.' : 'There are more animals to search.'}
  </p>`;
}

function Filters({ query }) {
  function apply(event) {
    event.preventDefault();
    goTo(parts, readForm(event.target));
  }
  function openOne(event) {
    event.preventDefault();
    const { id } = readForm(event.target);
    if (id !== undefined) goTo(['animals', id]);
  }
  return html`<div class="filters">
    <form onSubmit=${apply} role="search" aria-label="Filter animals">
      <${Choice} id="status" label="Status" name="status" value=${query.status} choices=${petStatuses} all="all" />
      <${Field} id="category" label="Category">
        <input id="category" name="categoryId" inputmode="numeric" size="8" value=${query.categoryId ?? ''} />
      <//>
      <${Field} id="name" label="Name contains">
        <input id="name" name="name" type="search" maxlength="255" value=${query.name ?? ''} />
      <//>
      <button type="submit">Show</button>
    </form>
    <form onSubmit=${openOne} aria-label="Open one animal">
      <${Field} id="number" label="Number">
        <input id="number" name="id" inputmode="numeric" size="8" />
      <//>
      <button type="submit">Open</button>
    </form>
  </div>`;
}
