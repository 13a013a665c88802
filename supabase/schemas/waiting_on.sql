-- Whose move a shipment is: the client's while a document has no file (it is missing, or was sent back) or a charge is not
-- paid; the company's else; nobody's once it is closed. app/models/shipment.ts has the same rule.
create function private.shipment_waiting_on(shipment_id uuid, stage smallint) returns text
language sql stable
set search_path = ''
as $$
  select case
    when stage = 10 then 'nobody'
    when exists (
      select from public.documents as document
      where document.shipment_id = shipment_waiting_on.shipment_id and not document.uploaded
    ) or exists (
      select from public.charges as charge where charge.shipment_id = shipment_waiting_on.shipment_id and charge.paid_at is null
    ) then 'client'
    else 'company'
  end
$$;

-- What happens to a document or a charge happens to its shipment.
create function private.touch_shipment() returns trigger
language plpgsql security definer
set search_path = ''
as $$
begin
  update public.shipments set changed_at = now() where id = new.shipment_id;
  return null;
end
$$;

create function private.increment_version() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.version := old.version + 1;
  return new;
end
$$;

-- Keeps waiting_on, waiting_since, changed_at and version up to date. A change of the name counts as a new version.
create function private.update_shipment_state() returns trigger
language plpgsql security definer
set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    -- Its documents are added after it, and none has a file.
    new.waiting_on := case when new.stage = 10 then 'nobody' else 'client' end;
    return new;
  end if;
  if (new.name, new.stage, new.awb, new.arrival_place, new.arrived_on, new.container_size)
    is distinct from (old.name, old.stage, old.awb, old.arrival_place, old.arrived_on, old.container_size)
  then
    new.version := old.version + 1;
    new.changed_at := now();
  end if;
  new.waiting_on := private.shipment_waiting_on(new.id, new.stage);
  if new.waiting_on <> old.waiting_on then
    new.waiting_since := now();
  end if;
  return new;
end
$$;

create trigger update_shipment_state
before insert or update on public.shipments
for each row execute function private.update_shipment_state();

create trigger touch_shipment
after update on public.documents
for each row when ((new.uploaded, new.verified) is distinct from (old.uploaded, old.verified))
execute function private.touch_shipment();

create trigger touch_shipment
after insert or update on public.charges
for each row execute function private.touch_shipment();

create trigger increment_version
before update on public.documents
for each row execute function private.increment_version();

create trigger increment_version
before update on public.charges
for each row execute function private.increment_version();
