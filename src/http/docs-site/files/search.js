/* The search dialog. The first use loads the index. Every search then runs in the browser. */
const foundMax = 30;
const { root, search, engine } = document.body.dataset;
const opener = document.querySelector('button.search');
const dialog = document.createElement('dialog');
dialog.className = 'search';
dialog.setAttribute('aria-label', 'Search the documentation');
const box = Object.assign(document.createElement('input'), {
  type: 'text',
  placeholder: 'Search operations, fields, error codes and guides',
  autocomplete: 'off',
  spellcheck: false,
});
const list = Object.assign(document.createElement('ul'), { id: 'search-found', role: 'listbox' });
list.setAttribute('aria-label', 'Search results');
const status = Object.assign(document.createElement('p'), { className: 'status', role: 'status' });
for (const [name, value] of Object.entries({
  role: 'combobox',
  'aria-label': 'Search',
  'aria-expanded': 'true',
  'aria-controls': 'search-found',
  'aria-autocomplete': 'list',
}))
  box.setAttribute(name, value);
dialog.append(box, list, status);
document.body.append(dialog);

let find = null;
let chosen = 0;

async function loadIndex() {
  if (find !== null) return;
  const [{ default: MiniSearch }, response] = await Promise.all([
    import(new URL(engine, document.baseURI)),
    fetch(search),
  ]);
  if (!response.ok)
    throw new Error(`The search index cannot be loaded (HTTP ${response.status}). Reload the page.`);
  find = createFinder(MiniSearch, await response.json());
}

function addText(parent, tag, text, className) {
  const element = document.createElement(tag);
  element.textContent = text;
  if (className) element.className = className;
  parent.append(element);
}

function show() {
  const found = find(box.value).slice(0, foundMax);
  const options = found.map((entry, position) => {
    const option = Object.assign(document.createElement('li'), { id: `search-${position}`, role: 'option' });
    option.dataset.address = entry.id;
    addText(option, 'strong', entry.title);
    if (entry.page !== entry.title) addText(option, 'span', ` · ${entry.page}`);
    const snippet = document.createElement('span');
    snippet.className = 'found-text';
    for (const [place, part] of cutSnippet(entry).entries())
      addText(snippet, place % 2 === 1 ? 'mark' : 'span', part);
    option.append(snippet);
    option.addEventListener('click', () => go(option));
    return option;
  });
  list.replaceChildren(...options);
  if (box.value.trim() === '')
    status.textContent = 'Type to search. Use the arrow keys to choose, Enter to open, Escape to close.';
  else status.textContent = found.length === 0 ? 'Nothing found.' : `${found.length} found`;
  choose(0);
}

function choose(position) {
  const options = [...list.children];
  chosen = options.length === 0 ? 0 : (position + options.length) % options.length;
  for (const [place, option] of options.entries())
    option.setAttribute('aria-selected', String(place === chosen));
  options[chosen]?.scrollIntoView({ block: 'nearest' });
  if (options.length === 0) box.removeAttribute('aria-activedescendant');
  else box.setAttribute('aria-activedescendant', `search-${chosen}`);
}

function go(option) {
  if (option === undefined) return;
  dialog.close();
  location.href = `${root}/docs${option.dataset.address.replace(/^(?!#|$)/, '/')}`;
}

async function open() {
  dialog.showModal();
  box.select();
  try {
    await loadIndex();
    show();
  } catch ({ message }) {
    status.textContent = message;
  }
}

box.addEventListener('input', () => find !== null && show());
box.addEventListener('keydown', (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step !== undefined) choose(chosen + step);
  else if (event.key === 'Enter') go(list.children[chosen]);
  else return;
  event.preventDefault();
});
dialog.addEventListener('click', (event) => {
  if (event.target === dialog) dialog.close();
});
document.addEventListener('keydown', (event) => {
  const isTyping = /^(?:INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  const isShortcut = event.key === 'k' && (event.ctrlKey || event.metaKey);
  if (dialog.open || !(isShortcut || (event.key === '/' && !isTyping))) return;
  event.preventDefault();
  open();
});
opener.hidden = false;
opener.addEventListener('click', open);
