/** The dialog with the conversations that the browser keeps. The script fills the list. */
export function HistoryDialog() {
  return (
    <dialog id="history-dialog" aria-labelledby="history-title">
      <article>
        <header>
          <h2 id="history-title">Conversations</h2>
          <button id="history-close" type="button" class="quiet">
            Close
          </button>
        </header>
        <p class="actions">
          <button id="history-new" type="button">
            New conversation
          </button>
        </p>
        <label for="history-search">Search</label>
        <input id="history-search" type="search" autocomplete="off" />
        <p id="history-status" class="fine" role="status" />
        <ul id="history-list" />
        <p class="actions">
          <button id="history-export" type="button" class="quiet">
            Export all (JSON)
          </button>
          <button id="history-delete-all" type="button" class="quiet">
            Delete all
          </button>
        </p>
        <p class="fine">
          Only this browser has the conversations of your account. Signing out deletes them, so export what you want to
          keep.
        </p>
      </article>
    </dialog>
  );
}
