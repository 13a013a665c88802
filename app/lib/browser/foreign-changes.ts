const contents = new WeakMap<Node, string>();
const observer = new MutationObserver(repairTexts);

/**
 * Prevents React errors on pages that translators or extensions change. React expects each text node where React
 * inserted the node. The observer puts a replaced text node back, without its text, directly before the replacement.
 */
export function tolerateForeignChanges(): void {
  observer.observe(document, { childList: true, characterData: true, subtree: true });
  const { insertBefore } = Node.prototype;
  Node.prototype.removeChild = (child) => {
    repairTexts(observer.takeRecords());
    (child as Node as ChildNode).remove();
    return child;
  };
  Node.prototype.insertBefore = function (node, next) {
    repairTexts(observer.takeRecords());
    let place: Node | null = next;
    while (place && place.parentNode !== this) place = place.parentNode;
    return insertBefore.call(this, node, place) as typeof node;
  };
}

function repairTexts(records: MutationRecord[]): void {
  let lastAdded: Node | undefined;
  for (const { target, addedNodes, removedNodes, previousSibling, nextSibling } of records) {
    const [added] = addedNodes;
    const [removed] = removedNodes;
    if (target instanceof Text) {
      if (target.data && contents.delete(target)) target.nextSibling?.remove();
    } else if (removed instanceof Text && !removed.parentNode) {
      const isNextToFont =
        lastAdded?.nodeName === "FONT" && (lastAdded === previousSibling || lastAdded === nextSibling);
      const replacement = added ?? (isNextToFont ? lastAdded : null);
      if (contents.delete(removed)) (nextSibling as ChildNode | null)?.remove();
      else if (replacement instanceof Element) {
        contents.set(removed, removed.data);
        removed.data = "";
        replacement.before(removed);
      }
    } else {
      // To restore the original text, a translator puts the old text node back or removes the replacement.
      const text = added ?? (removed ? previousSibling : null);
      const content = text && contents.get(text);
      if (content && contents.delete(text)) (text as Text).data = content;
    }
    lastAdded = added;
  }
  observer.takeRecords();
}
