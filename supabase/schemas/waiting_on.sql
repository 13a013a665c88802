-- Returns who must act next on a shipment. The client must act while a file or payment is missing.
-- app/models/shipment.ts has the same rule.
create function private.shipment_waiting_on(shipment_id uuid, stage smallint) returns text
language sql stable set search_path = '' as $$
  select case
    when stage = 10 then 'nobody'
    when exists (
      select from public.documents as document
      where document.shipment_id = shipment_waiting_on.shipment_id and not document.uploaded
    ) or exists (
      select from public.charges as charge
      where charge.shipment_id = shipment_waiting_on.shipment_id and charge.paid_at is null
    ) then 'client'
    else 'company'
  end
$$;

-- Updates the shipment after a change of a document or charge, so that the trigger update_shipment_state runs.
create function private.touch_shipment() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  update public.shipments set changed_at = now() where id = new.shipment_id;
  return null;
end
$$;

create function private.increment_version() returns trigger
language plpgsql set search_path = '' as $$
begin
  new.version := old.version + 1;
  return new;
end
$$;

create trigger touch_shipment after update on public.documents
for each row when ((new.uploaded, new.verified) is distinct from (old.uploaded, old.verified))
execute function private.touch_shipment();

create trigger touch_shipment after insert or update on public.charges
for each row execute function private.touch_shipment();

create trigger increment_version before update on public.documents
for each row execute function private.increment_version();

create trigger increment_version before update on public.charges
for each row execute function private.increment_version();
