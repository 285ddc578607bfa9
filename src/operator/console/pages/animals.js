import { callApi, formatQuery } from './api.js';
import { ActDialog, useDialog } from './dialog.js';
import { html } from './html.js';
import { notify } from './notices.js';
import {
  Choice,
  Field,
  Filters,
  Loaded,
  PageHead,
  Pager,
  readForm,
  State,
  Table,
  TextFilter,
} from './parts.js';
import { useResource } from './resource.js';
import { goTo, linkTo } from './routing.js';

const petStatuses = ['available', 'pending', 'sold'];
const parts = ['animals'];

const columns = [
  {
    title: 'Number',
    by: 'id',
    isNumber: true,
    cell: ({ id }) => html`<a href=${linkTo(['animals', id])}>${id}</a>`,
  },
  { title: 'Name', by: 'name', cell: ({ name }) => html`<span class="text">${name}</span>` },
  { title: 'Category', by: 'categoryId', cell: (pet) => html`<${Category} ...${pet} />` },
  { title: 'Status', by: 'status', cell: ({ status }) => html`<${State} state=${status} />` },
];

/** Shows the number of a category as a link to its animals, and the name of the category if it has one. */
export function Category({ categoryId, category }) {
  return html`<a href=${linkTo(parts, { categoryId })}>${categoryId}</a>
    ${category !== null && html`${' '}<span class="text">${category}</span>`}`;
}

export function Animals({ query }) {
  const animals = useResource(`/pets${formatQuery(query)}`);
  const dialog = useDialog();
  const { inputs = [] } = animals.data ?? {};
  const add = () => dialog.open(html`<${AddDialog} inputs=${inputs} />`);
  return html`<${PageHead} title="Animals">
      <button type="button" class="main" disabled=${animals.data === null} onClick=${add}>Add an animal</button>
      <a class="button" href=${linkTo(['categories'])}>Category names</a>
    <//>
    <div class="beside">
      <${Filters} parts=${parts} query=${query} label="Filter animals">
        <${Choice} id="status" label="Status" name="status" value=${query.status} choices=${petStatuses} all="all" />
        <${TextFilter} name="categoryId" label="Category" query=${query} inputmode="numeric" size="8" />
      <//>
      <${OpenForm} />
    </div>
    <${Loaded} resource=${animals}>
      ${({ items, next }) =>
        html`<${Table} caption="Animals" columns=${columns} rows=${items} empty="No animal on this page matches." />
          <${Pager} parts=${parts} query=${query} next=${next} />`}
    <//>
    ${dialog.shown}`;
}

function AddDialog({ inputs, ...own }) {
  function finish({ id }) {
    notify(`The animal ${id} is added.`);
    goTo(['animals', id]);
  }
  const act = (values) => callApi('POST', '/pets', readInputs(inputs, values));
  return html`<${ActDialog} title="Add an animal" label="Add the animal" act=${act} ...${own} onDone=${finish}>
    ${inputs.map((input) => html`<${PetInput} key=${input.field} input=${input} />`)}
  <//>`;
}

/** The values of the form of an animal. White space around a number does not count. */
export function readInputs(inputs, values) {
  const given = inputs.filter(({ field }) => values[field] !== undefined);
  return Object.fromEntries(
    given.map(({ field, isInt64 }) => [field, isInt64 ? readInt64(values[field].trim()) : values[field]]),
  );
}

/** Returns a text that is no canonical integer unchanged, so that the API refuses it with an error message. */
function readInt64(text) {
  return /^(?:0|-?[1-9]\d*)$/.test(text) ? BigInt(text) : text;
}

export function PetInput({ input: { field, label, isInt64, choices }, value }) {
  const id = `edit-${field}`;
  const title = capitalise(label);
  if (choices !== null)
    return html`<${Choice} id=${id} label=${title} name=${field} value=${value} choices=${choices} />`;
  return html`<${Field} id=${id} label=${title}>
    <input id=${id} name=${field} inputmode=${isInt64 ? 'numeric' : undefined} value=${value ?? ''} />
  <//>`;
}

export function capitalise(label) {
  return label[0].toUpperCase() + label.slice(1);
}

function OpenForm() {
  function openOne(event) {
    event.preventDefault();
    const { id } = readForm(event.target);
    if (id !== undefined) goTo(['animals', id]);
  }
  return html`<form class="filters" onSubmit=${openOne} aria-label="Open one animal">
    <${Field} id="number" label="Number">
      <input id="number" name="id" inputmode="numeric" size="8" />
    <//>
    <button type="submit">Open</button>
  </form>`;
}
