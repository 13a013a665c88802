import { useEffect, useState } from "react";
import { Button } from "~/components/ui/button";
import { useIsHydrated } from "~/components/ui/hydration";

export function SelectAllButton({ form }: { form: string }) {
  const isHydrated = useIsHydrated();
  if (!isHydrated) return null;
  const toggleAll = () => {
    const element = document.getElementById(form);
    const boxes = [...(element?.querySelectorAll<HTMLInputElement>("input[type=checkbox]:not(:disabled)") ?? [])];
    const shouldSelect = !boxes.every(({ checked }) => checked);
    for (const box of boxes) box.checked = shouldSelect;
    element?.dispatchEvent(new Event("change"));
  };
  return (
    <Button type="button" onClick={toggleAll}>
      Select all
    </Button>
  );
}

export function SelectionCount({ form }: { form: string }) {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const element = document.getElementById(form);
    const updateCount = () => setCount(element?.querySelectorAll("input[type=checkbox]:checked").length ?? 0);
    updateCount();
    element?.addEventListener("change", updateCount);
    return () => element?.removeEventListener("change", updateCount);
  });
  return count > 0 ? ` (${count})` : null;
}
